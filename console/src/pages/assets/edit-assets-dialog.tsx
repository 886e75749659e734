import { Button, Checkbox, Group, SegmentedControl, Stack, TagsInput, Text, Textarea } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useEditListing, useSetCriticality, useTagAssets } from '../../queries/bulk-edit-assets.ts';
import { type AssetRow, searchTags } from '../../queries/assets.ts';
import { CRITICALITIES } from '../../queries/enums.ts';
import { commonMessages } from '../../components/messages.ts';
import { CriticalityMark } from '../../components/marks.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ListingPicker } from '../../components/listing-picker.tsx';
import { pluralizeAssets } from '../../components/pluralize.ts';
import { assetDialogMessages as messages, assetMessages as pageMessages } from './messages.ts';
import { parseScopeRules } from './pasted-assets.ts';

export type AssetEditKind = 'criticality' | 'tags' | 'listing';

interface EditAssetsDialogProps {
  kind: AssetEditKind;
  rows: readonly AssetRow[];
  onClose: () => void;
}

/** Edits one property of one or many assets. */
export function EditAssetsDialog({ kind, rows, onClose }: EditAssetsDialogProps) {
  const Form = FORMS[kind];
  return (
    <Dialog onClose={onClose} title={messages.titles[kind]} size="sm">
      <Stack gap="sm">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {rows.length === 1 ? rows[0]?.location : pluralizeAssets(rows.length)}
        </Text>
        <Form rows={rows} onClose={onClose} />
      </Stack>
    </Dialog>
  );
}

type FormProps = Omit<EditAssetsDialogProps, 'kind'>;

function CriticalityForm({ rows, onClose }: FormProps) {
  const change = useSetCriticality();
  return (
    <Stack gap={6}>
      {CRITICALITIES.map((criticality, index) => (
        <Button
          key={criticality}
          variant="default"
          justify="start"
          data-autofocus={index === 0 || undefined}
          onClick={() => {
            change.mutate({ rows, criticality });
            onClose();
          }}
        >
          <CriticalityMark criticality={criticality} withLabel />
        </Button>
      ))}
    </Stack>
  );
}

function TagsForm({ rows, onClose }: FormProps) {
  const [names, setNames] = useState<string[]>([]);
  const [search, setSearch] = useState('');
  const [removed, setRemoved] = useState<string[]>([]);
  const change = useTagAssets();
  const organization = rows[0]?.organizationUid ?? '';
  const { data: suggestions = [] } = useQuery({
    queryKey: ['asset-tags', organization, search],
    queryFn: async ({ signal }) => (await searchTags(organization, search, signal)).map(({ name }) => name),
    placeholderData: keepPreviousData,
  });
  const present = new Map(rows.flatMap(({ tags }) => tags).map((tag) => [tag.uid, tag]));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ rows, add: names, remove: removed });
        onClose();
      }}
    >
      <Stack gap="sm">
        <TagsInput
          label="Add"
          description={commonMessages.newTagsHint}
          data-autofocus
          data={suggestions}
          value={names}
          onChange={setNames}
          searchValue={search}
          onSearchChange={setSearch}
          maxTags={20}
        />
        {present.size > 0 && (
          <Checkbox.Group label="Remove" value={removed} onChange={setRemoved}>
            <Stack gap={6} mt={6} mah={200} style={{ overflowY: 'auto' }}>
              {[...present.values()].map(({ uid, name }) => (
                <Checkbox
                  key={uid}
                  value={uid}
                  size="xs"
                  label={name}
                  styles={{ label: { overflowWrap: 'anywhere' } }}
                />
              ))}
            </Stack>
          </Checkbox.Group>
        )}
        <Group justify="flex-end">
          <Button type="submit" disabled={names.length === 0 && removed.length === 0}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function ListingForm({ rows, onClose }: FormProps) {
  const [action, setAction] = useState('add');
  const [listing, setListing] = useState<string | null>(null);
  const [rules, setRules] = useState('');
  const change = useEditListing();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (listing === null) return;
        const parsedRules = parseScopeRules(rules);
        change.mutate({
          rows,
          listingUid: listing,
          isListed: action === 'add',
          ...(action === 'add' && parsedRules.length > 0 ? { rules: parsedRules } : {}),
        });
        onClose();
      }}
    >
      <Stack gap="sm">
        <SegmentedControl
          value={action}
          onChange={setAction}
          aria-label={messages.action}
          data={[
            { value: 'add', label: 'Add' },
            { value: 'remove', label: 'Remove' },
          ]}
        />
        <ListingPicker label="Assessment" autoFocus value={listing} onChange={setListing} />
        {action === 'add' && (
          <Textarea
            label={pageMessages.scopeRules}
            description={messages.scopeRulesHint}
            autosize
            minRows={2}
            maxRows={8}
            value={rules}
            onChange={(event) => setRules(event.currentTarget.value)}
          />
        )}
        <Group justify="flex-end">
          <Button type="submit" disabled={listing === null}>
            {action === 'add' ? messages.addToListing : messages.removeFromListing}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const FORMS = { criticality: CriticalityForm, tags: TagsForm, listing: ListingForm } as const;
