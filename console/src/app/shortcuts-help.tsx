import { Kbd, Table, Text } from '@mantine/core';
import { Dialog } from '../components/dialog.tsx';
import { appMessages } from './messages.ts';
import type { Shortcuts } from './shortcuts.tsx';

interface ShortcutsHelpProps {
  shortcuts: Shortcuts;
  onClose: () => void;
}

/** Lists the shortcuts of the current page. */
export default function ShortcutsHelp({ shortcuts, onClose }: ShortcutsHelpProps) {
  const entries = Object.entries(shortcuts);
  return (
    <Dialog onClose={onClose} title={appMessages.shortcuts.title}>
      {entries.length === 0 && <Text>{appMessages.shortcuts.none}</Text>}
      <Table>
        <Table.Tbody>
          {entries.map(([key, { label }]) => (
            <Table.Tr key={key}>
              <Table.Td w={90}>
                {key.split(' ').map((pressed) => (
                  <Kbd key={pressed} mr={4}>
                    {pressed}
                  </Kbd>
                ))}
              </Table.Td>
              <Table.Td>{label}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Dialog>
  );
}
