import { Alert, Button, Group, Loader, Select, Stack, Text, Textarea } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { findListing } from '../../queries/bulk-edit-assets.ts';
import { type AssetRow } from '../../queries/assets.ts';
import { api } from '../../queries/client.ts';
import {
  CreateAssetsError,
  assetKey,
  useExistingAssets,
  useCreateAssets,
} from '../../queries/create-assets.ts';
import { organizations } from '../../queries/organizations.ts';
import { pluralNoun, pluralizeAssets } from '../../components/pluralize.ts';
import { Dialog } from '../../components/dialog.tsx';
import { ListingPicker } from '../../components/listing-picker.tsx';
import { errorText } from '../../components/notifications.tsx';
import { useAssetPermissions } from '../../session/permissions.ts';
import { PastedPreview, type PreviewedLine } from './pasted-preview.tsx';
import { parsePastedAssets } from './pasted-assets.ts';

/** Adds assets from a pasted list, and shows first what is new, what is known and what is wrong with which line. */
export function AddAssetsDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [listing, setListing] = useState<string | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const rights = useAssetPermissions();
  const { data: reached = [] } = useQuery(organizations);
  const ofListing = useQuery({
    queryKey: ['organization-of', listing],
    queryFn: async ({ signal }) =>
      (await api.GET('/v1/assessments/{id}', { params: { path: { id: listing ?? '' } }, signal })).data
        .organization_uid,
    enabled: listing !== null,
    staleTime: Infinity,
  });
  const organization =
    listing === null ? (chosen ?? (reached.length === 1 ? reached[0]?.uid : undefined)) : ofListing.data;

  const [settled] = useDebouncedValue(text, 250);
  const pasted = useMemo(() => parsePastedAssets(settled), [settled]);
  const { assets, invalid, duplicates } = pasted;
  const known = useExistingAssets(organization, { text: settled, assets });
  const add = useCreateAssets();

  const standing = known.data;
  const newAssets = standing === undefined ? [] : assets.filter((item) => !standing.has(assetKey(item)));
  const toList: AssetRow[] =
    standing === undefined || listing === null
      ? []
      : [...standing.values()].filter((row) => findListing(row, listing) === undefined);
  const refused = add.error instanceof CreateAssetsError ? add.error.rejected : [];
  const lines: PreviewedLine[] = [
    ...invalid,
    ...refused.map(({ index, message }) => ({
      line: newAssets[index]?.line ?? 0,
      text: newAssets[index]?.location ?? '',
      error: message,
    })),
  ];
  const isReady = standing !== undefined && settled === text && !known.isFetching;
  const nothing = newAssets.length === 0 && toList.length === 0;
  return (
    <Dialog onClose={onClose} title="Add assets" size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (organization === undefined || !isReady || nothing) return;
          add.mutate(
            { organizationUid: organization, listingUid: listing, newAssets, existing: toList },
            { onSuccess: onClose },
          );
        }}
      >
        <Stack gap="sm">
          {listing === null && reached.length > 1 && (
            <Select
              label="Organization"
              description="Or choose a listing, which has one."
              data={reached.map(({ uid, name }) => ({ value: uid, label: name }))}
              value={chosen}
              onChange={setChosen}
              searchable
            />
          )}
          <ListingPicker
            label="Listing"
            description={
              rights.organizationWide
                ? 'The assessment that they are tested in; may be left out.'
                : 'The assessment that they are tested in.'
            }
            required={!rights.organizationWide}
            value={listing}
            onChange={setListing}
          />
          <Textarea
            label="Hosts and URLs"
            description="One a line. A name may follow, behind a comma."
            placeholder={'192.0.2.10, Gateway\nshop.example.com\nhttps://shop.example.com/'}
            data-autofocus
            autosize
            minRows={6}
            maxRows={14}
            value={text}
            spellCheck={false}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            onChange={(event) => {
              add.reset();
              setText(event.currentTarget.value);
            }}
          />
          <div aria-live="polite">
            {assets.length > 0 && organization === undefined && (
              <Text size="sm" c="dimmed">
                Choose a listing to see what is new.
              </Text>
            )}
            {known.isFetching && <Loader size="sm" aria-label="Looking up what is known" />}
            {known.error !== null && <Alert color="red">{errorText(known.error)}</Alert>}
            {add.error !== null && refused.length === 0 && (
              <Alert color="red" title="They could not be added">
                {errorText(add.error.cause)}
                {add.error instanceof CreateAssetsError &&
                  add.error.createdCount > 0 &&
                  ` ${pluralizeAssets(add.error.createdCount)} ${pluralNoun(add.error.createdCount, 'was', 'were')} added before.`}
              </Alert>
            )}
            {(isReady || (assets.length === 0 && invalid.length > 0)) && (
              <PastedPreview
                newAssets={newAssets}
                knownAssets={assets.filter((item) => standing?.has(assetKey(item)) === true)}
                listedCount={toList.length}
                listing={listing}
                duplicates={duplicates}
                invalid={lines}
              />
            )}
          </div>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              type="submit"
              loading={add.isPending}
              disabled={!isReady || nothing || (listing === null && !rights.organizationWide)}
            >
              {submitLabel(newAssets.length, toList.length)}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

function submitLabel(fresh: number, listed: number): string {
  if (fresh === 0 && listed > 0) return `Put ${listed.toLocaleString()} on the listing`;
  return fresh === 0 ? 'Add' : `Add ${fresh.toLocaleString()}`;
}
