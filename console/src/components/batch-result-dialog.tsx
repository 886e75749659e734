import { Button, Group, ScrollArea, Stack, Table, Text } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconMinus } from '@tabler/icons-react';
import { Dialog } from './dialog.tsx';

export interface BatchItemResult {
  name: string;
  status: 'done' | 'unchanged' | 'failed';
  /** Why it failed. */
  reason?: string;
}

interface BatchResultProps {
  /** Column header: "Person". */
  itemLabel: string;
  results: readonly BatchItemResult[];
  doneLabel: string;
  unchangedLabel: string;
}

interface BatchResultDialogProps extends BatchResultProps {
  title: string;
  onClose: () => void;
}

/** Shows the results of a batch operation. */
export function BatchResultDialog({ title, onClose, ...results }: BatchResultDialogProps) {
  return (
    <Dialog title={title} size="lg" onClose={onClose}>
      <Stack gap="sm">
        <BatchResult {...results} />
        <Group justify="flex-end">
          <Button data-autofocus onClick={onClose}>
            Close
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

const ICONS = { done: IconCheck, unchanged: IconMinus, failed: IconAlertTriangle } as const;

/** The result of each item, failed ones first. */
function BatchResult({ itemLabel, results, doneLabel, unchangedLabel }: BatchResultProps) {
  const labels = { done: doneLabel, unchanged: unchangedLabel, failed: 'Failed' } as const;
  const order = ['failed', 'done', 'unchanged'] as const;
  const counts = order.map((outcome) => ({
    outcome,
    count: results.filter((item) => item.status === outcome).length,
  }));
  return (
    <>
      <Text size="sm" role="status">
        {counts
          .filter(({ count }) => count > 0)
          .map(({ outcome, count }) => `${labels[outcome]}: ${count.toLocaleString()}`)
          .join(' · ')}
      </Text>
      <ScrollArea.Autosize mah={340} viewportProps={{ tabIndex: 0, 'aria-label': 'Results', role: 'region' }}>
        <Table style={{ overflowWrap: 'anywhere' }}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{itemLabel}</Table.Th>
              <Table.Th>Result</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {results
              .toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status))
              .map(({ name, status, reason }, index) => {
                const Icon = ICONS[status];
                return (
                  <Table.Tr key={`${index} ${name}`}>
                    <Table.Td>{name}</Table.Td>
                    <Table.Td>
                      <Icon size={14} aria-hidden /> {labels[status]}
                      {reason !== undefined && `: ${reason}`}
                    </Table.Td>
                  </Table.Tr>
                );
              })}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
    </>
  );
}
