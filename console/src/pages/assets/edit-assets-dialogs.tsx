import { Button, Checkbox, Group, SegmentedControl, Stack, TagsInput, Text, Textarea } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useEditListing, useSetCriticality, useTagAssets } from '../../queries/bulk-edit-assets.ts';
import { type AssetRow, CRITICALITIES, searchTags } from '../../queries/assets.ts';
import { CriticalityBadge } from '../../components/criticality-badge.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ListingPicker } from '../../components/listing-picker.tsx';
import { parseScopeRules } from './scope-rules.ts';
import { pluralizeAssets } from '../../components/pluralize.ts';

export type AssetEditKind = 'criticality' | 'tags' | 'listing';

interface EditAssetsDialogProps {
  kind: AssetEditKind;
  rows: readonly AssetRow[];
  onClose: () => void;
}

const TITLES: Readonly<Record<AssetEditKind, string>> = {
  criticality: 'Set the criticality',
  tags: 'Change tags',
  listing: 'Change a listing',
};

/** Asks for what becomes of one asset or of many. */
export function EditAssetsDialog({ kind, rows, onClose }: EditAssetsDialogProps) {
  const Form = FORMS[kind];
  return (
    <Dialog onClose={onClose} title={TITLES[kind]} size="sm">
      <Stack gap="sm">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {rows.length === 1 ? rows[0]?.location : `Of ${pluralizeAssets(rows.length)}.`}
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
          <CriticalityBadge criticality={criticality} />
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
  const { data: found = [] } = useQuery({
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
          description="A name that is new is created."
          data-autofocus
          data={found}
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
            Change
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function ListingForm({ rows, onClose }: FormProps) {
  const [way, setWay] = useState('on');
  const [listing, setListing] = useState<string | null>(null);
  const [rules, setRules] = useState('');
  const change = useEditListing();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (listing === null) return;
        const given = parseScopeRules(rules);
        change.mutate({
          rows,
          listingUid: listing,
          isListed: way === 'on',
          ...(way === 'on' && given.length > 0 ? { rules: given } : {}),
        });
        onClose();
      }}
    >
      <Stack gap="sm">
        <SegmentedControl
          value={way}
          onChange={setWay}
          aria-label="What to do"
          data={[
            { value: 'on', label: 'Put on it' },
            { value: 'off', label: 'Take off' },
          ]}
        />
        <ListingPicker label="Listing" autoFocus value={listing} onChange={setListing} />
        {way === 'on' && (
          <Textarea
            label="Scope rules"
            description="One a line. Left empty, those that stand stay."
            autosize
            minRows={2}
            maxRows={8}
            value={rules}
            onChange={(event) => setRules(event.currentTarget.value)}
          />
        )}
        <Group justify="flex-end">
          <Button type="submit" disabled={listing === null}>
            {way === 'on' ? 'Put on the listing' : 'Take off the listing'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const FORMS = { criticality: CriticalityForm, tags: TagsForm, listing: ListingForm } as const;
