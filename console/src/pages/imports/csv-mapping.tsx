import { Button, Collapse, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { readColumns, CSV_FIELDS } from './csv-columns.ts';
import classes from './imports.module.css';

interface CsvMappingProps {
  file: File;
  mapping: Readonly<Record<string, string>> | undefined;
  onChange: (mapping: Readonly<Record<string, string>> | undefined) => void;
}

/** Which column of a CSV is which member of ours; its columns are read from the first row, here. */
export function CsvMapping({ file, mapping = {}, onChange }: CsvMappingProps) {
  const [isOpen, setOpen] = useState(false);
  const { data: columns = [] } = useQuery({
    queryKey: ['csv-columns', file.name, file.size, file.lastModified],
    queryFn: () => readColumns(file),
    enabled: isOpen,
  });
  const set = (member: string, column: string | null) => {
    const next = Object.fromEntries(Object.entries(mapping).filter(([name]) => name !== member));
    if (column !== null) next[member] = column;
    onChange(Object.keys(next).length === 0 ? undefined : next);
  };
  return (
    <div>
      <Button
        size="compact-sm"
        variant="light"
        aria-expanded={isOpen}
        onClick={() => setOpen((open) => !open)}
      >
        Columns
      </Button>
      <Collapse expanded={isOpen} transitionDuration={0}>
        <Stack gap="xs" mt="xs">
          <Text size="sm" c="dimmed">
            Columns with usual names are known. Once you choose one, those that you choose count alone.
          </Text>
          <div className={classes.options}>
            {Object.entries(CSV_FIELDS).map(([member, label]) => (
              <Select
                key={member}
                size="xs"
                label={label}
                placeholder="No column"
                data={[...new Set(columns)]}
                value={mapping[member] ?? null}
                onChange={(column) => set(member, column)}
                clearable
                searchable
              />
            ))}
          </div>
        </Stack>
      </Collapse>
    </div>
  );
}
