import { useState } from 'react';
import { searchListings } from '../queries/assets.ts';
import type { Option } from './filter-definition.ts';
import { AsyncSelect } from './async-select.tsx';

/** What the word means, said where it is first met. */
export const LISTING_DESCRIPTION = 'A listing is the assets that one assessment tests.';

interface ListingPickerProps {
  label: string;
  description?: string;
  error?: string | undefined;
  /** The uid of the assessment. */
  value: string | null;
  onChange: (uid: string | null) => void;
  required?: boolean;
  /** Whether the dialog that it stands in begins with it. */
  autoFocus?: boolean;
}

/** One assessment, which is the listing of its assets, found by a search of the server. */
export function ListingPicker({
  description = LISTING_DESCRIPTION,
  value,
  onChange,
  ...rest
}: ListingPickerProps) {
  const [chosen, setChosen] = useState<Option | null>(null);
  return (
    <AsyncSelect
      {...rest}
      description={description}
      optionsKey={['listings']}
      loadOptions={async (search, signal) =>
        (await searchListings(search, signal)).map(({ uid, name }) => ({ value: uid, label: name }))
      }
      value={value === null ? null : chosen?.value === value ? chosen : { value, label: value }}
      onChange={(option) => {
        setChosen(option);
        onChange(option?.value ?? null);
      }}
      clearable
    />
  );
}
