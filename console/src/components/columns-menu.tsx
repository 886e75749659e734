import { Button, Checkbox, Popover, Stack } from '@mantine/core';
import { IconColumns } from '@tabler/icons-react';

interface ColumnsMenuProps {
  columns: readonly { id: string; header: string; isHiddenByDefault?: boolean }[];
  /** Ids of the selected columns; if absent, those that fit are shown. */
  selected: readonly string[] | undefined;
  onChange: (selected: readonly string[] | undefined) => void;
  /** Id of the column that cannot be hidden. */
  required: string;
}

/** Selects the columns of a table. */
export function ColumnsMenu({ columns, selected, onChange, required }: ColumnsMenuProps) {
  const now = new Set(
    selected ?? columns.filter(({ isHiddenByDefault = false }) => !isHiddenByDefault).map(({ id }) => id),
  );
  const toggle = (id: string) => {
    if (!now.delete(id)) now.add(id);
    onChange(columns.filter((column) => now.has(column.id)).map((column) => column.id));
  };
  return (
    <Popover position="bottom-end" width={220} trapFocus>
      <Popover.Target>
        <Button
          size="compact-sm"
          variant="default"
          radius="xl"
          leftSection={<IconColumns size={14} aria-hidden />}
        >
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Columns">
        <Stack gap={8}>
          {columns.map(({ id, header }) => (
            <Checkbox
              key={id}
              size="xs"
              label={header}
              checked={id === required || now.has(id)}
              disabled={id === required}
              onChange={() => toggle(id)}
            />
          ))}
          <Button
            size="compact-sm"
            variant="subtle"
            disabled={selected === undefined}
            onClick={() => onChange(undefined)}
          >
            Automatic
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
