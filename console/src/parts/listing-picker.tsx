import { useState } from 'react';
import { searchListings } from '../api/assets.ts';
import type { Option } from './filter-kind.ts';
import { SearchedSelect } from './searched-select.tsx';

interface ListingPickerProps {
  label: string;
  description?: string;
  error?: string | undefined;
  /** The uid of the assessment. */
  value: string | null;
  onChange: (uid: string | null) => void;
  required?: boolean;
  /** Whether the dialog that it stands in begins with it. */
  first?: boolean;
}

/** One assessment, which is the listing of its assets, found by a search of the server. */
export function ListingPicker({ value, onChange, ...rest }: ListingPickerProps) {
  const [chosen, setChosen] = useState<Option | null>(null);
  return (
    <SearchedSelect
      {...rest}
      choices={['listings']}
      find={async (search, signal) =>
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
