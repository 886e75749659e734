import { Checkbox, Text, Textarea } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import { listingOf } from '../../queries/bulk-edit-assets.ts';
import { assetCount, type AssetRow } from '../../queries/assets.ts';
import { api } from '../../queries/client.ts';
import { candidateOf, type ScopeCandidate, useAddToScope } from '../../queries/add-to-scope.ts';
import { useKnownAssets } from '../../queries/create-assets.ts';
import { ChosenPills } from '../../components/selected-pills.tsx';
import type { Option } from '../../components/filter-definition.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { errorText } from '../../components/notifications.tsx';
import { type Outcome, OutcomesDialog } from '../../components/batch-result-dialog.tsx';
import { SearchedSelect } from '../../components/async-select.tsx';
import { readPasted } from '../assets/pasted-assets.ts';
import { rulesOf } from '../assets/scope-rules.ts';

interface AddToScopeProps {
  uid: string;
  organization: string;
  onClose: () => void;
}

/** Puts many assets into a scope at once: found one by one, or pasted as a list; each has a result. */
export function AddToScope({ uid, organization, onClose }: AddToScopeProps) {
  const [chosen, setChosen] = useState<readonly ScopeCandidate[]>([]);
  const [text, setText] = useState('');
  const [rules, setRules] = useState('');
  const [creates, setCreates] = useState(true);
  const run = useAddToScope(uid, organization);
  const { assets, wrong } = useMemo(() => readPasted(text), [text]);
  const [settled] = useDebouncedValue(text, 250);
  const known = useKnownAssets(organization, { text: settled, assets: readPasted(settled).assets });
  if (run.data !== undefined)
    return (
      <OutcomesDialog
        title="Add to the scope"
        onClose={onClose}
        noun="Asset"
        outcomes={[
          ...run.data.outcomes,
          ...wrong.map((line): Outcome => ({
            name: line.text,
            outcome: 'refused',
            why: `It ${line.wrong}.`,
          })),
        ]}
        done="In scope"
        already="Was in scope"
      />
    );
  const more = assets.filter(({ location }) => !chosen.some((one) => one.location === location));
  const total = chosen.length + more.length;
  return (
    <FormDialog
      title="Add to the scope"
      save={total === 0 ? 'Add' : `Add ${assetCount(total)}`}
      size="lg"
      busy={run.isPending}
      disabled={total === 0}
      error={run.error === null ? undefined : errorText(run.error)}
      onClose={onClose}
      onSave={() =>
        run.mutate(
          { chosen, pasted: more, rules: rulesOf(rules), creates },
          {
            // Where each is in scope there is nothing to read.
            onSuccess: ({ outcomes }) => {
              if (wrong.length === 0 && outcomes.every(({ outcome }) => outcome === 'done')) onClose();
            },
          },
        )
      }
    >
      <SearchedSelect
        label="Asset"
        placeholder="Address or name"
        first
        forgets
        choices={['assets', organization, uid]}
        find={async (search, signal) => {
          const { data } = await api.GET('/api/asset/v2/assets', {
            params: { query: { 'organizationUid[]': [organization], search, perPage: 20 } },
            signal,
          });
          return data.map((asset): Option & { candidate: ScopeCandidate } => {
            const candidate = candidateOf(asset, uid);
            return { value: asset.uid, label: labelOf(candidate), candidate };
          });
        }}
        value={null}
        onChange={(one) => {
          if (one !== null && !chosen.some(({ assetUid }) => assetUid === one.value))
            setChosen([...chosen, one.candidate]);
        }}
      />
      <ChosenPills
        label="Assets to add"
        chosen={chosen.map((one) => ({ value: one.assetUid, label: labelOf(one) }))}
        onLeaveOut={(value) => setChosen(chosen.filter(({ assetUid }) => assetUid !== value))}
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
            {assetCount(assets.length)} found in it
            {settled === text && known.data !== undefined && `: ${inWords(known.data, assets.length, uid)}`}.
            {wrong
              .slice(0, 3)
              .map(({ line, text: what, wrong: why }) => ` Line ${line}: ${what.slice(0, 60)} ${why}.`)}
            {wrong.length > 3 && ` ${(wrong.length - 3).toLocaleString()} more lines are wrong.`}
          </Text>
          <Checkbox
            size="sm"
            label="Create those that are no assets yet"
            checked={creates}
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

const labelOf = ({ location, rules }: ScopeCandidate) =>
  rules === undefined ? location : `${location} (in scope)`;

/** @returns how many of those that were pasted are new, known and in the scope */
function inWords(known: ReadonlyMap<string, AssetRow>, pasted: number, uid: string): string {
  const inScope = [...known.values()].filter((row) => listingOf(row, uid) !== undefined).length;
  const counts = { new: pasted - known.size, known: known.size - inScope, 'in scope already': inScope };
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count.toLocaleString()} ${word}`)
    .join(', ');
}
