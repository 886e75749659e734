import { Button, Group, ScrollArea, Stack, Table, Text } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconMinus } from '@tabler/icons-react';
import { Dialog } from './dialog.tsx';

/** What became of one of a batch. */
export interface BatchItemResult {
  name: string;
  status: 'done' | 'already' | 'refused';
  /** Why it was refused. */
  reason?: string;
}

interface BatchResultProps {
  /** What each is: "Person". */
  itemLabel: string;
  results: readonly BatchItemResult[];
  /** The words of what was done, and of what needed not be: "Added", "Already a member". */
  doneLabel: string;
  alreadyLabel: string;
}

interface BatchResultDialogProps extends BatchResultProps {
  title: string;
  onClose: () => void;
}

/** What became of a batch, in a dialog that is closed when it was read. */
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

const ICONS = { done: IconCheck, already: IconMinus, refused: IconAlertTriangle } as const;

/** What became of each of a batch, those that were refused first. */
function BatchResult({ itemLabel, results, doneLabel, alreadyLabel }: BatchResultProps) {
  const words = { done: doneLabel, already: alreadyLabel, refused: 'Refused' } as const;
  const order = ['refused', 'done', 'already'] as const;
  const sums = order.map((outcome) => ({
    outcome,
    sum: results.filter((one) => one.status === outcome).length,
  }));
  return (
    <>
      <Text size="sm" role="status">
        {sums
          .filter(({ sum }) => sum > 0)
          .map(({ outcome, sum }) => `${words[outcome]}: ${sum.toLocaleString()}`)
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
              .toSorted((one, other) => order.indexOf(one.status) - order.indexOf(other.status))
              .map(({ name, status: outcome, reason }, index) => {
                const Icon = ICONS[outcome];
                return (
                  <Table.Tr key={`${index} ${name}`}>
                    <Table.Td>{name}</Table.Td>
                    <Table.Td>
                      <Icon size={14} aria-hidden /> {words[outcome]}
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
