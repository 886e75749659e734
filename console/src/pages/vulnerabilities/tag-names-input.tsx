import { TagsInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { tagSuggestionsQuery } from '../../queries/tags.ts';

/** The API's maximum per request. */
const MAX_TAGS = 50;

interface TagNamesInputProps {
  label: string;
  description?: string;
  /** Called with the names, also with the one that is being typed. */
  onChange: (names: string[]) => void;
}

/** An input for tag names that suggests existing tags. */
export function TagNamesInput({ label, description, onChange }: TagNamesInputProps) {
  const [names, setNames] = useState<string[]>([]);
  const [search, setSearch] = useState('');
  // A new tag clears the search, before the new names are rendered.
  const latestNames = useRef(names);
  const { data: suggestions = [] } = useQuery(tagSuggestionsQuery(search));
  return (
    <TagsInput
      label={label}
      description={description}
      data-autofocus
      data={suggestions}
      value={names}
      onChange={(next) => {
        latestNames.current = next;
        setNames(next);
        onChange(next);
      }}
      searchValue={search}
      onSearchChange={(text) => {
        setSearch(text);
        onChange([...new Set([...latestNames.current, text.trim()])].filter((name) => name !== ''));
      }}
      maxTags={MAX_TAGS}
      maxLength={255}
    />
  );
}
