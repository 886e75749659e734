import { Button, Checkbox, Popover, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconAdjustmentsHorizontal } from '@tabler/icons-react';
import { DENSITIES, type Density, useDensity } from './density.ts';
import { commonMessages } from './messages.ts';

const messages = commonMessages.display;

interface DisplayMenuProps {
  columns: readonly { id: string; header: string; isHiddenByDefault?: boolean }[];
  /** Ids of the selected columns; if absent, those that fit are shown. */
  selected: readonly string[] | undefined;
  onChange: (selected: readonly string[] | undefined) => void;
  /** Id of the column that cannot be hidden. */
  required: string;
}

/** Sets the density of lists and selects the columns of a table. */
export function DisplayMenu({ columns, selected, onChange, required }: DisplayMenuProps) {
  const [density, setDensity] = useDensity();
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
          size="xs"
          variant="subtle"
          color="gray"
          leftSection={<IconAdjustmentsHorizontal size={16} aria-hidden />}
        >
          {messages.title}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={messages.title}>
        <Stack gap={8}>
          <SegmentedControl
            size="xs"
            aria-label={messages.density}
            value={density}
            data={DENSITIES.map((value) => ({ value, label: messages.densities[value] }))}
            onChange={(value) => setDensity(value as Density)}
          />
          <Text size="xs" c="dimmed">
            {messages.columns}
          </Text>
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
            size="xs"
            variant="default"
            disabled={selected === undefined}
            onClick={() => onChange(undefined)}
          >
            {messages.automatic}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
