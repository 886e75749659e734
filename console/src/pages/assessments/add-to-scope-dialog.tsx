import { Checkbox, Textarea } from '@mantine/core';
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
import { errorText } from '../../components/notifications.ts';
import { type BatchItemResult, BatchResultDialog } from '../../components/batch-result-dialog.tsx';
import { AsyncSelect } from '../../components/async-select.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { scopeMessages as messages } from './messages.ts';
import { parsePastedAssets, parseScopeRules } from '../assets/pasted-assets.ts';

interface AddToScopeDialogProps {
  uid: string;
  organizationUid: string;
  onClose: () => void;
}

/** Adds assets to a scope, from a search or a pasted list, and shows the result of each. */
export function AddToScopeDialog({ uid, organizationUid, onClose }: AddToScopeDialogProps) {
  const [selected, setSelected] = useState<readonly ScopeCandidate[]>([]);
  const [text, setText] = useState('');
  const [rules, setRules] = useState('');
  const [createsMissing, setCreates] = useState(true);
  const run = useAddToScope(uid, organizationUid);
  const parsed = useMemo(() => parsePastedAssets(text), [text]);
  const { assets, invalid } = parsed;
  const [settled] = useDebouncedValue(text, 250);
  const existingAssets = useExistingAssets(organizationUid, {
    text: settled,
    assets: parsePastedAssets(settled).assets,
  });
  if (run.data !== undefined)
    return (
      <BatchResultDialog
        title={messages.add}
        onClose={onClose}
        itemLabel="Asset"
        results={[
          ...run.data.results,
          ...invalid.map((line): BatchItemResult => ({
            name: line.text,
            status: 'failed',
            reason: messages.rejected(line.error),
          })),
        ]}
        doneLabel={messages.added}
        unchangedLabel={messages.alreadyAdded}
      />
    );
  const pasted = assets.filter(
    ({ location }) => !selected.some((candidate) => candidate.location === location),
  );
  const total = selected.length + pasted.length;
  return (
    <FormDialog
      title={messages.add}
      submitLabel={messages.addAssets(total)}
      size="lg"
      isPending={run.isPending}
      isDisabled={total === 0}
      error={errorText(run.error)}
      onClose={onClose}
      onSubmit={() =>
        run.mutate(
          { selected, pasted, rules: parseScopeRules(rules), createsMissing },
          {
            // Shows the results only if some assets were not added.
            onSuccess: ({ results }) => {
              if (invalid.length === 0 && results.every(({ status }) => status === 'done')) onClose();
            },
          },
        )
      }
    >
      <AssetSearch
        uid={uid}
        organizationUid={organizationUid}
        onSelect={(candidate) => {
          if (!selected.some(({ assetUid }) => assetUid === candidate.assetUid))
            setSelected([...selected, candidate]);
        }}
      />
      <SelectedPills
        label={messages.selectedAssets}
        selected={selected.map((candidate) => ({
          value: candidate.assetUid,
          label: candidateLabel(candidate),
        }))}
        onRemove={(value) => setSelected(selected.filter(({ assetUid }) => assetUid !== value))}
      />
      <Textarea
        label={messages.pasteLabel}
        description={messages.pasteHint}
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
          <DimmedText size="xs" aria-live="polite">
            {pastedText(
              parsed,
              settled === text && existingAssets.data !== undefined
                ? pastedSummary(existingAssets.data, assets.length, uid)
                : undefined,
            )}
          </DimmedText>
          <Checkbox
            size="sm"
            label={messages.createMissing}
            checked={createsMissing}
            onChange={(event) => setCreates(event.currentTarget.checked)}
          />
        </>
      )}
      <Textarea
        label="Rules"
        description={messages.newRulesHint}
        autosize
        minRows={2}
        maxRows={10}
        value={rules}
        onChange={(event) => setRules(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

interface AssetSearchProps {
  uid: string;
  organizationUid: string;
  onSelect: (asset: ScopeCandidate) => void;
}

/** Searches the assets of the organization. */
function AssetSearch({ uid, organizationUid, onSelect }: AssetSearchProps) {
  return (
    <AsyncSelect
      label="Asset"
      placeholder={messages.assetPlaceholder}
      autoFocus
      clearsOnSelect
      optionsKey={['assets', organizationUid, uid]}
      loadOptions={async (search, signal) => {
        const { data } = await api.GET('/api/asset/v2/assets', {
          params: { query: { 'organizationUid[]': [organizationUid], search, perPage: 20 } },
          signal,
        });
        return data.map((asset): Option & { candidate: ScopeCandidate } => {
          const candidate = toScopeCandidate(asset, uid);
          return { value: asset.uid, label: candidateLabel(candidate), candidate };
        });
      }}
      value={null}
      onChange={(option) => option !== null && onSelect(option.candidate)}
    />
  );
}

const candidateLabel = ({ location, rules }: ScopeCandidate) =>
  rules === undefined ? location : messages.inScope(location);

/** @returns the number of assets in a pasted list, and the errors of its first invalid lines */
function pastedText(
  { assets, invalid }: ReturnType<typeof parsePastedAssets>,
  summary: string | undefined,
): string {
  return [
    messages.pasted(assets.length, summary),
    ...invalid
      .slice(0, 3)
      .map(({ line, text, error }) => messages.invalidLine(line, text.slice(0, 60), error)),
    ...(invalid.length > 3 ? [messages.moreInvalid(invalid.length - 3)] : []),
  ].join(' ');
}

/** Describes how many of the pasted assets are new, known and already in scope. */
function pastedSummary(existingAssets: ReadonlyMap<string, AssetRow>, pasted: number, uid: string): string {
  const inScope = [...existingAssets.values()].filter((row) => findListing(row, uid) !== undefined).length;
  return messages.pastedSummary({
    new: pasted - existingAssets.size,
    known: existingAssets.size - inScope,
    inScope,
  });
}
