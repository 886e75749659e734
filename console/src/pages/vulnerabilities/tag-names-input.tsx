import { TagsInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { tagNames } from '../../queries/tag-suggestions.ts';

/** Tags that are named at once, at most. */
const MOST = 50;

interface TagNamesProps {
  label: string;
  description?: string;
  onChange: (names: string[]) => void;
}

/** The names of tags, which are searched among those that there are. */
export function TagNames({ label, description, onChange }: TagNamesProps) {
  const [names, setNames] = useState<string[]>([]);
  const [search, setSearch] = useState('');
  const { data: found = [] } = useQuery(tagNames(search));
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
      maxTags={MOST}
      maxLength={255}
    />
  );
}
