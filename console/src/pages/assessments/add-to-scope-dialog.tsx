import { Checkbox, Text, Textarea } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import { findListing } from '../../queries/bulk-edit-assets.ts';
import { type AssetRow } from '../../queries/assets.ts';
import { api } from '../../queries/client.ts';
import { toScopeCandidate, type ScopeCandidate, useAddToScope } from '../../queries/add-to-scope.ts';
import { useExistingAssets } from '../../queries/create-assets.ts';
import { SelectedPills } from '../../components/selected-pills.tsx';
import type { Option } from '../../components/filter-definition.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText } from '../../components/notifications.tsx';
import { type BatchItemResult, BatchResultDialog } from '../../components/batch-result-dialog.tsx';
import { AsyncSelect } from '../../components/async-select.tsx';
import { parsePastedAssets } from '../assets/pasted-assets.ts';
import { parseScopeRules } from '../assets/scope-rules.ts';
import { pluralizeAssets } from '../../components/pluralize.ts';

interface AddToScopeDialogProps {
  uid: string;
  organization: string;
  onClose: () => void;
}

/** Puts many assets into a scope at once: found one by one, or pasted as a list; each has a result. */
export function AddToScopeDialog({ uid, organization, onClose }: AddToScopeDialogProps) {
  const [chosen, setChosen] = useState<readonly ScopeCandidate[]>([]);
  const [text, setText] = useState('');
  const [rules, setRules] = useState('');
  const [createsMissing, setCreates] = useState(true);
  const run = useAddToScope(uid, organization);
  const { assets, invalid } = useMemo(() => parsePastedAssets(text), [text]);
  const [settled] = useDebouncedValue(text, 250);
  const known = useExistingAssets(organization, { text: settled, assets: parsePastedAssets(settled).assets });
  if (run.data !== undefined)
    return (
      <BatchResultDialog
        title="Add to the scope"
        onClose={onClose}
        itemLabel="Asset"
        results={[
          ...run.data.results,
          ...invalid.map((line): BatchItemResult => ({
            name: line.text,
            status: 'refused',
            reason: `It ${line.error}.`,
          })),
        ]}
        doneLabel="In scope"
        alreadyLabel="Was in scope"
      />
    );
  const more = assets.filter(({ location }) => !chosen.some((one) => one.location === location));
  const total = chosen.length + more.length;
  return (
    <FormDialog
      title="Add to the scope"
      submitLabel={total === 0 ? 'Add' : `Add ${pluralizeAssets(total)}`}
      size="lg"
      isPending={run.isPending}
      isDisabled={total === 0}
      error={run.error === null ? undefined : errorText(run.error)}
      onClose={onClose}
      onSubmit={() =>
        run.mutate(
          { selected: chosen, pasted: more, rules: parseScopeRules(rules), createsMissing },
          {
            // Where each is in scope there is nothing to read.
            onSuccess: ({ results }) => {
              if (invalid.length === 0 && results.every(({ status }) => status === 'done')) onClose();
            },
          },
        )
      }
    >
      <AsyncSelect
        label="Asset"
        placeholder="Address or name"
        autoFocus
        clearsOnSelect
        optionsKey={['assets', organization, uid]}
        loadOptions={async (search, signal) => {
          const { data } = await api.GET('/api/asset/v2/assets', {
            params: { query: { 'organizationUid[]': [organization], search, perPage: 20 } },
            signal,
          });
          return data.map((asset): Option & { candidate: ScopeCandidate } => {
            const candidate = toScopeCandidate(asset, uid);
            return { value: asset.uid, label: candidateLabel(candidate), candidate };
          });
        }}
        value={null}
        onChange={(one) => {
          if (one !== null && !chosen.some(({ assetUid }) => assetUid === one.value))
            setChosen([...chosen, one.candidate]);
        }}
      />
      <SelectedPills
        label="Assets to add"
        selected={chosen.map((one) => ({ value: one.assetUid, label: candidateLabel(one) }))}
        onRemove={(value) => setChosen(chosen.filter(({ assetUid }) => assetUid !== value))}
      />
      <Textarea
        label="Hosts and URLs"
        description="Paste a list, one a line. A name may follow, behind a comma."
        placeholder={'192.0.2.10, Gateway\nshop.example.com\nhttps://shop.example.com/'}
        autosize
        minRows={3}
        maxRows={10}
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {text.trim() !== '' && (
        <>
          <Text size="xs" c="dimmed" aria-live="polite">
            {pluralizeAssets(assets.length)} found in it
            {settled === text &&
              known.data !== undefined &&
              `: ${pastedSummary(known.data, assets.length, uid)}`}
            .
            {invalid
              .slice(0, 3)
              .map(({ line, text: what, error: why }) => ` Line ${line}: ${what.slice(0, 60)} ${why}.`)}
            {invalid.length > 3 && ` ${(invalid.length - 3).toLocaleString()} more lines are wrong.`}
          </Text>
          <Checkbox
            size="sm"
            label="Create those that are no assets yet"
            checked={createsMissing}
            onChange={(event) => setCreates(event.currentTarget.checked)}
          />
        </>
      )}
      <Textarea
        label="Rules"
        description="For all of them, one a line, such as: No tests from 08:00 to 18:00 UTC. Without any, what is in scope already keeps its own."
        autosize
        minRows={2}
        maxRows={10}
        value={rules}
        onChange={(event) => setRules(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

const candidateLabel = ({ location, rules }: ScopeCandidate) =>
  rules === undefined ? location : `${location} (in scope)`;

/** @returns how many of those that were pasted are new, known and in the scope */
function pastedSummary(known: ReadonlyMap<string, AssetRow>, pasted: number, uid: string): string {
  const inScope = [...known.values()].filter((row) => findListing(row, uid) !== undefined).length;
  const counts = { new: pasted - known.size, known: known.size - inScope, 'in scope already': inScope };
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count.toLocaleString()} ${word}`)
    .join(', ');
}
