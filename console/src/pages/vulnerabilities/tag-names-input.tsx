import { TagsInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { tagSuggestions } from '../../queries/tag-suggestions.ts';

/** Tags that are named at once, at most. */
const MAX_TAGS = 50;

interface TagNamesInputProps {
  label: string;
  description?: string;
  onChange: (names: string[]) => void;
}

/** The names of tags, which are searched among those that there are. */
export function TagNamesInput({ label, description, onChange }: TagNamesInputProps) {
  const [names, setNames] = useState<string[]>([]);
  const [search, setSearch] = useState('');
  const { data: found = [] } = useQuery(tagSuggestions(search));
  return (
    <TagsInput
      label={label}
      description={description}
      data-autofocus
      data={found}
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
