import { Anchor, Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useEditListing } from '../../queries/bulk-edit-assets.ts';
import type { Asset } from '../../queries/client.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { LISTING_DESCRIPTION } from '../../components/listing-picker.tsx';
import { useAssetPermissions } from '../../session/permissions.ts';
import { parseScopeRules } from './scope-rules.ts';
import classes from './asset-page.module.css';

interface AssetListingsProps {
  asset: Asset;
  onAdd: () => void;
}

/** The listings that an asset is on, with the rules of each; changed in place. */
export function AssetListings({ asset, onAdd }: AssetListingsProps) {
  const { write } = useAssetPermissions();
  const [edited, setEdited] = useState<string>();
  const [left, setLeft] = useState<string>();
  const change = useEditListing();
  const { listings } = asset;
  return (
    <Stack gap="sm">
      {listings.length === 0 && (
        <Text size="sm" c="dimmed">
          It is on no listing that you reach: nobody is asked to test it. {LISTING_DESCRIPTION}
        </Text>
      )}
      {listings.map(({ listingUid, scopeRules }) => (
        <div key={listingUid}>
          <Group gap="xs">
            <Anchor component={Link} to={`/assessments/${listingUid}`} size="sm" fw={600}>
              {listingUid}
            </Anchor>
            {write && (
              <>
                <Button
                  size="compact-xs"
                  variant="subtle"
                  aria-label={`Change the rules of ${listingUid}`}
                  onClick={() => setEdited(listingUid)}
                >
                  Rules
                </Button>
                <Button
                  size="compact-xs"
                  variant="subtle"
                  color="gray"
                  aria-label={`Take off ${listingUid}`}
                  onClick={() => setLeft(listingUid)}
                >
                  Take off
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
              <ul className={classes.rules} aria-label={`Scope rules of ${listingUid}`}>
                {scopeRules.map(({ rule }, index) => (
                  <li key={`${index} ${rule}`}>{rule}</li>
                ))}
              </ul>
            )
          )}
        </div>
      ))}
      {write && (
        <Group>
          <Button size="compact-sm" variant="light" onClick={onAdd}>
            Put on a listing
          </Button>
        </Group>
      )}
      {left !== undefined && (
        <FormDialog
          title="Take off the listing"
          submitLabel="Take off"
          size="sm"
          onClose={() => setLeft(undefined)}
          onSubmit={() => {
            change.mutate({ rows: [asset], listingUid: left, isListed: false });
            setLeft(undefined);
          }}
        >
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {asset.location} leaves {left}, with its scope rules there. Its vulnerabilities stay.
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
  const wrong = parseScopeRules(text).find((rule) => rule.length > 2_048);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (wrong === undefined) onSave(parseScopeRules(text));
      }}
    >
      <Stack gap="xs" mt={4}>
        <Textarea
          label="Scope rules"
          description="One a line."
          autosize
          minRows={2}
          maxRows={10}
          value={text}
          autoFocus
          error={wrong === undefined ? undefined : 'A rule has at most 2,048 characters.'}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Group gap="xs">
          <Button size="compact-sm" type="submit">
            Save
          </Button>
          <Button size="compact-sm" variant="default" onClick={onCancel}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
