import { Button, Collapse, Select, Stack } from '@mantine/core';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { readColumns, CSV_FIELDS } from './csv-columns.ts';
import classes from './imports.module.css';
import { importMessages } from './messages.ts';

interface CsvMappingProps {
  file: File;
  mapping: Readonly<Record<string, string>> | undefined;
  onChange: (mapping: Readonly<Record<string, string>> | undefined) => void;
}

/** Maps the columns of a CSV file to fields; reads the column names in the browser. */
export function CsvMapping({ file, mapping = {}, onChange }: CsvMappingProps) {
  const [isOpen, setOpen] = useState(false);
  const { data: columns = [] } = useQuery({
    queryKey: ['csv-columns', file.name, file.size, file.lastModified],
    queryFn: () => readColumns(file),
    enabled: isOpen,
  });
  const set = (field: string, column: string | null) => {
    const next = Object.fromEntries(Object.entries(mapping).filter(([name]) => name !== field));
    if (column !== null) next[field] = column;
    onChange(Object.keys(next).length === 0 ? undefined : next);
  };
  return (
    <div>
      <Button size="xs" variant="default" aria-expanded={isOpen} onClick={() => setOpen((open) => !open)}>
        Columns
      </Button>
      <Collapse expanded={isOpen} transitionDuration={0}>
        <Stack gap="xs" mt="xs">
          <DimmedText>{importMessages.file.columnsHint}</DimmedText>
          <div className={classes.options}>
            {Object.entries(CSV_FIELDS).map(([field, label]) => (
              <Select
                key={field}
                size="xs"
                label={label}
                placeholder={importMessages.file.noColumn}
                data={[...new Set(columns)]}
                value={mapping[field] ?? null}
                onChange={(column) => set(field, column)}
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
