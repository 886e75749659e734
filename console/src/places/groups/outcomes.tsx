import { ScrollArea, Table, Text } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconMinus } from '@tabler/icons-react';
import type { BatchOutcome } from '../../api/group-members.ts';
import classes from './group-page.module.css';

interface OutcomesProps {
  outcomes: readonly BatchOutcome[];
  /** The words of what was done, and of what needed not be: "Added", "Already a member". */
  done: string;
  already: string;
}

const ICONS = { done: IconCheck, already: IconMinus, refused: IconAlertTriangle } as const;

/** What became of each person of a batch, those who were refused first. */
export function Outcomes({ outcomes, done, already }: OutcomesProps) {
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
        <Table className={classes.outcomes}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Person</Table.Th>
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
