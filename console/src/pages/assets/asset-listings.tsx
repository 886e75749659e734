import { Anchor, Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useEditListing } from '../../queries/bulk-edit-assets.ts';
import type { Asset } from '../../queries/client.ts';
import { AssessmentName } from '../../components/assessment-name.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { LISTING_DESCRIPTION } from '../../components/listing-picker.tsx';
import { useAssessmentNames } from '../../queries/names.ts';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { useAssetPermissions } from '../../session/permissions.ts';
import { parseScopeRules } from './pasted-assets.ts';
import { assetMessages as messages } from './messages.ts';
import classes from './asset-page.module.css';

interface AssetListingsProps {
  asset: Asset;
  onAdd: () => void;
}

/** The listings of an asset with their scope rules, edited in place. */
export function AssetListings({ asset, onAdd }: AssetListingsProps) {
  const { list: canList } = useAssetPermissions();
  const [edited, setEdited] = useState<string>();
  const [removed, setRemoved] = useState<string>();
  const change = useEditListing();
  const names = useAssessmentNames();
  const nameOf = (uid: string) => names?.get(uid) ?? uid;
  const { listings } = asset;
  return (
    <Stack gap="sm">
      {listings.length === 0 && <DimmedText>{messages.noListings(LISTING_DESCRIPTION)}</DimmedText>}
      {listings.map(({ listingUid, scopeRules }) => (
        <div key={listingUid}>
          <Group gap="xs">
            <Anchor component={Link} to={`/assessments/${listingUid}`} size="sm" fw={600}>
              <AssessmentName uid={listingUid} />
            </Anchor>
            {canList(listingUid) && (
              <>
                <Button
                  size="xs"
                  variant="subtle"
                  aria-label={messages.editRulesOf(nameOf(listingUid))}
                  onClick={() => setEdited(listingUid)}
                >
                  Rules
                </Button>
                <Button
                  size="xs"
                  variant="subtle"
                  color="gray"
                  aria-label={messages.removeFrom(nameOf(listingUid))}
                  onClick={() => setRemoved(listingUid)}
                >
                  Remove
                </Button>
              </>
            )}
          </Group>
          {edited === listingUid ? (
            <ScopeRulesForm
              rules={scopeRules.map(({ rule }) => rule)}
              onCancel={() => setEdited(undefined)}
              onSave={(rules) => {
                change.mutate({ rows: [asset], listingUid, isListed: true, rules });
                setEdited(undefined);
              }}
            />
          ) : (
            scopeRules.length > 0 && (
              <ul className={classes.rules} aria-label={messages.rulesOf(nameOf(listingUid))}>
                {scopeRules.map(({ rule }, index) => (
                  <li key={`${index} ${rule}`}>{rule}</li>
                ))}
              </ul>
            )
          )}
        </div>
      ))}
      {canList() && (
        <Group>
          <Button size="xs" variant="default" onClick={onAdd}>
            {messages.addToListing}
          </Button>
        </Group>
      )}
      {removed !== undefined && (
        <FormDialog
          title={messages.removeFromListing}
          submitLabel="Remove"
          size="sm"
          onClose={() => setRemoved(undefined)}
          onSubmit={() => {
            change.mutate({ rows: [asset], listingUid: removed, isListed: false });
            setRemoved(undefined);
          }}
        >
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {messages.removeFromListingHint(asset.location, nameOf(removed))}
          </Text>
        </FormDialog>
      )}
    </Stack>
  );
}

interface ScopeRulesFormProps {
  rules: readonly string[];
  onSave: (rules: readonly string[]) => void;
  onCancel: () => void;
}

function ScopeRulesForm({ rules, onSave, onCancel }: ScopeRulesFormProps) {
  const [text, setText] = useState(rules.join('\n'));
  const tooLong = parseScopeRules(text).find((rule) => rule.length > 2_048);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (tooLong === undefined) onSave(parseScopeRules(text));
      }}
    >
      <Stack gap="xs" mt={4}>
        <Textarea
          label={messages.scopeRules}
          description={messages.onePerLine}
          autosize
          minRows={2}
          maxRows={10}
          value={text}
          autoFocus
          error={tooLong === undefined ? undefined : messages.ruleTooLong}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Group gap="xs">
          <Button size="xs" type="submit">
            Save
          </Button>
          <Button size="xs" variant="default" onClick={onCancel}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
