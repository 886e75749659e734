import { useState } from 'react';
import { findAssessments } from '../queries/assessments.ts';
import { useAssessmentNames } from '../queries/names.ts';
import type { Option } from './filter-definition.ts';
import { AsyncSelect } from './async-select.tsx';
import { commonMessages } from './messages.ts';

export const LISTING_DESCRIPTION = commonMessages.listing;

interface ListingPickerProps {
  label: string;
  description?: string;
  error?: string | undefined;
  /** Uid of the assessment. */
  value: string | null;
  onChange: (uid: string | null) => void;
  required?: boolean;
  /** Whether it gets the focus when its dialog opens. */
  autoFocus?: boolean;
}

/** Selects an assessment whose listing the user may change. */
export function ListingPicker({
  description = LISTING_DESCRIPTION,
  value,
  onChange,
  ...rest
}: ListingPickerProps) {
  const [selected, setSelected] = useState<Option | null>(null);
  const names = useAssessmentNames();
  const nameOf = (uid: string) => (names === undefined ? '' : (names.get(uid) ?? uid));
  return (
    <AsyncSelect
      {...rest}
      description={description}
      optionsKey={['listings']}
      loadOptions={(search, signal) => findAssessments(search, signal, { permission: 'write_assets' })}
      value={value === null ? null : selected?.value === value ? selected : { value, label: nameOf(value) }}
      onChange={(option) => {
        setSelected(option);
        onChange(option?.value ?? null);
      }}
      clearable
    />
  );
}
