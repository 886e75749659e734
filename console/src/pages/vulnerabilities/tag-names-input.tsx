import { TagsInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { tagSuggestionsQuery } from '../../queries/tags.ts';

/** The API's maximum per request. */
const MAX_TAGS = 50;

interface TagNamesInputProps {
  label: string;
  description?: string;
  onChange: (names: string[]) => void;
}

/** An input for tag names that suggests existing tags. */
export function TagNamesInput({ label, description, onChange }: TagNamesInputProps) {
  const [names, setNames] = useState<string[]>([]);
  const [search, setSearch] = useState('');
  const { data: suggestions = [] } = useQuery(tagSuggestionsQuery(search));
  return (
    <TagsInput
      label={label}
      description={description}
      data-autofocus
      data={suggestions}
      value={names}
      onChange={(next) => {
        setNames(next);
        onChange(next);
      }}
      searchValue={search}
      onSearchChange={setSearch}
      maxTags={MAX_TAGS}
      maxLength={255}
    />
  );
}
