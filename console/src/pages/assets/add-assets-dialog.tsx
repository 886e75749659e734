import { Alert, Loader, Select, Textarea } from '@mantine/core';
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
import { organizationsQuery } from '../../queries/organizations.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { ListingPicker } from '../../components/listing-picker.tsx';
import { errorText } from '../../components/notifications.ts';
import { useAssetPermissions } from '../../session/permissions.ts';
import { assetDialogMessages as messages } from './messages.ts';
import { PastedPreview } from './pasted-preview.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { type InvalidLine, parsePastedAssets } from './pasted-assets.ts';

/** Adds assets from a pasted list, with a preview of new, known and invalid lines. */
export function AddAssetsDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [listing, setListing] = useState<string | null>(null);
  const [selectedOrganization, setSelectedOrganization] = useState<string | null>(null);
  const permissions = useAssetPermissions();
  const { data: visible = [] } = useQuery(organizationsQuery);
  const organization = useOrganization(listing, selectedOrganization);
  const list = usePastedAssets(text, organization, listing);
  const { invalid, newAssets, toList, isReady } = list;
  const add = useCreateAssets();
  const rejected = add.error instanceof CreateAssetsError ? add.error.rejected : [];
  const invalidLines: InvalidLine[] = [
    ...invalid,
    ...rejected.map(({ index, message }) => ({
      line: newAssets[index]?.line ?? 0,
      text: newAssets[index]?.location ?? '',
      error: message,
    })),
  ];
  const isEmpty = newAssets.length === 0 && toList.length === 0;
  return (
    <FormDialog
      title={messages.addTitle}
      submitLabel={messages.submit(newAssets.length, toList.length)}
      size="lg"
      isPending={add.isPending}
      isDisabled={!isReady || isEmpty || (listing === null && !permissions.organizationWide)}
      onClose={onClose}
      onSubmit={() => {
        if (organization !== undefined)
          add.mutate(
            { organizationUid: organization, listingUid: listing, newAssets, existing: toList },
            { onSuccess: onClose },
          );
      }}
    >
      {listing === null && visible.length > 1 && (
        <Select
          label="Organization"
          description={messages.organizationHint}
          data={visible.map(({ uid, name }) => ({ value: uid, label: name }))}
          value={selectedOrganization}
          onChange={setSelectedOrganization}
          searchable
        />
      )}
      <ListingPicker
        label="Assessment"
        description={permissions.organizationWide ? messages.listingHintOptional : messages.listingHint}
        required={!permissions.organizationWide}
        value={listing}
        onChange={setListing}
      />
      <Textarea
        label={messages.pasteLabel}
        description={messages.pasteHint}
        placeholder={'192.0.2.10, Gateway\n192.0.2.20-29\nshop.example.com\nhttps://shop.example.com/'}
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
        {list.assets.length > 0 && organization === undefined && (
          <DimmedText>{messages.chooseListing}</DimmedText>
        )}
        {list.isFetching && <Loader size="sm" aria-label={messages.lookingUp} />}
        {list.error !== null && <Alert color="red">{errorText(list.error)}</Alert>}
        {add.error !== null && rejected.length === 0 && (
          <Alert color="red" title={messages.addFailed}>
            {errorText(add.error.cause)}{' '}
            {add.error instanceof CreateAssetsError &&
              add.error.createdCount > 0 &&
              messages.addedBeforeError(add.error.createdCount)}
          </Alert>
        )}
        {(isReady || (list.assets.length === 0 && invalid.length > 0)) && (
          <PastedPreview
            newAssets={newAssets}
            knownAssets={list.knownAssets}
            listedCount={toList.length}
            listing={listing}
            duplicates={list.duplicates}
            invalid={invalidLines}
          />
        )}
      </div>
    </FormDialog>
  );
}

/**
 * @returns the organization of a listing or else the selected one, or the only one; undefined if it is not known yet
 */
function useOrganization(listing: string | null, selected: string | null): string | undefined {
  const { data: visible = [] } = useQuery(organizationsQuery);
  const listingOrganization = useQuery({
    queryKey: ['organization-of', listing],
    queryFn: async ({ signal }) =>
      (await api.GET('/v1/assessments/{id}', { params: { path: { id: listing ?? '' } }, signal })).data
        .organization_uid,
    enabled: listing !== null,
    staleTime: Infinity,
  });
  return listing === null
    ? (selected ?? (visible.length === 1 ? visible[0]?.uid : undefined))
    : listingOrganization.data;
}

/** Parses a pasted list, and compares it with the existing assets of an organization. */
function usePastedAssets(text: string, organizationUid: string | undefined, listing: string | null) {
  const [debouncedText] = useDebouncedValue(text, 250);
  const pasted = useMemo(() => parsePastedAssets(debouncedText), [debouncedText]);
  const { assets, invalid, duplicates } = pasted;
  const lookup = useExistingAssets(organizationUid, { text: debouncedText, assets });

  const existing = lookup.data;
  const newAssets = existing === undefined ? [] : assets.filter((item) => !existing.has(assetKey(item)));
  const toList: AssetRow[] =
    existing === undefined || listing === null
      ? []
      : [...existing.values()].filter((row) => findListing(row, listing) === undefined);
  return {
    assets,
    invalid,
    duplicates,
    newAssets,
    knownAssets: assets.filter((item) => existing?.has(assetKey(item)) === true),
    /** Existing assets that the listing lacks. */
    toList,
    isReady: existing !== undefined && debouncedText === text && !lookup.isFetching,
    isFetching: lookup.isFetching,
    error: lookup.error,
  };
}
