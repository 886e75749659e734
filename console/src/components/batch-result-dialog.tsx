import { Button, Group, ScrollArea, Stack, Table, Text } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconMinus } from '@tabler/icons-react';
import { Dialog } from './dialog.tsx';

/** What became of one of a batch. */
export interface Outcome {
  name: string;
  outcome: 'done' | 'already' | 'refused';
  /** Why it was refused. */
  why?: string;
}

interface OutcomesProps {
  /** What each is: "Person". */
  noun: string;
  outcomes: readonly Outcome[];
  /** The words of what was done, and of what needed not be: "Added", "Already a member". */
  done: string;
  already: string;
}

interface OutcomesDialogProps extends OutcomesProps {
  title: string;
  onClose: () => void;
}

/** What became of a batch, in a dialog that is closed when it was read. */
export function OutcomesDialog({ title, onClose, ...outcomes }: OutcomesDialogProps) {
  return (
    <Dialog title={title} size="lg" onClose={onClose}>
      <Stack gap="sm">
        <Outcomes {...outcomes} />
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
function Outcomes({ noun, outcomes, done, already }: OutcomesProps) {
  const words = { done, already, refused: 'Refused' } as const;
  const order = ['refused', 'done', 'already'] as const;
  const sums = order.map((outcome) => ({
    outcome,
    sum: outcomes.filter((one) => one.outcome === outcome).length,
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
              <Table.Th>{noun}</Table.Th>
              <Table.Th>Result</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {outcomes
              .toSorted((one, other) => order.indexOf(one.outcome) - order.indexOf(other.outcome))
              .map(({ name, outcome, why }, index) => {
                const Icon = ICONS[outcome];
                return (
                  <Table.Tr key={`${index} ${name}`}>
                    <Table.Td>{name}</Table.Td>
                    <Table.Td>
                      <Icon size={14} aria-hidden /> {words[outcome]}
                      {why !== undefined && `: ${why}`}
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
