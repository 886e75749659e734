import { Alert, Button, Group, Loader, Select, Stack, Text, Textarea } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { listingOf } from '../../queries/bulk-edit-assets.ts';
import { assetCount, type AssetRow } from '../../queries/assets.ts';
import { api } from '../../queries/client.ts';
import { AdditionError, keyOf, useKnownAssets, useAddAssets } from '../../queries/create-assets.ts';
import { organizations } from '../../queries/organizations.ts';
import { noun } from '../../components/pluralize.ts';
import { Dialog } from '../../components/dialog.tsx';
import { ListingPicker } from '../../components/listing-picker.tsx';
import { errorText } from '../../components/notifications.tsx';
import { useAssetRights } from '../../session/asset-permissions.ts';
import { PastedPreview, type PreviewedLine } from './pasted-preview.tsx';
import { readPasted } from './pasted-assets.ts';

/** Adds assets from a pasted list, and shows first what is new, what is known and what is wrong with which line. */
export function AddAssets({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [listing, setListing] = useState<string | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const rights = useAssetRights();
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
  const pasted = useMemo(() => readPasted(settled), [settled]);
  const { assets, wrong, twice } = pasted;
  const known = useKnownAssets(organization, { text: settled, assets });
  const add = useAddAssets();

  const standing = known.data;
  const fresh = standing === undefined ? [] : assets.filter((item) => !standing.has(keyOf(item)));
  const toList: AssetRow[] =
    standing === undefined || listing === null
      ? []
      : [...standing.values()].filter((row) => listingOf(row, listing) === undefined);
  const refused = add.error instanceof AdditionError ? add.error.refused : [];
  const lines: PreviewedLine[] = [
    ...wrong,
    ...refused.map(({ index, message }) => ({
      line: fresh[index]?.line ?? 0,
      text: fresh[index]?.location ?? '',
      wrong: message,
    })),
  ];
  const isReady = standing !== undefined && settled === text && !known.isFetching;
  const nothing = fresh.length === 0 && toList.length === 0;
  return (
    <Dialog onClose={onClose} title="Add assets" size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (organization === undefined || !isReady || nothing) return;
          add.mutate(
            { organizationUid: organization, listingUid: listing, fresh, known: toList },
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
              rights.whole
                ? 'The assessment that they are tested in; may be left out.'
                : 'The assessment that they are tested in.'
            }
            required={!rights.whole}
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
                {add.error instanceof AdditionError &&
                  add.error.added > 0 &&
                  ` ${assetCount(add.error.added)} ${noun(add.error.added, 'was', 'were')} added before.`}
              </Alert>
            )}
            {(isReady || (assets.length === 0 && wrong.length > 0)) && (
              <PastedPreview
                fresh={fresh}
                known={assets.filter((item) => standing?.has(keyOf(item)) === true)}
                listed={toList.length}
                listing={listing}
                twice={twice}
                wrong={lines}
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
              disabled={!isReady || nothing || (listing === null && !rights.whole)}
            >
              {labelOf(fresh.length, toList.length)}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

function labelOf(fresh: number, listed: number): string {
  if (fresh === 0 && listed > 0) return `Put ${listed.toLocaleString()} on the listing`;
  return fresh === 0 ? 'Add' : `Add ${fresh.toLocaleString()}`;
}
