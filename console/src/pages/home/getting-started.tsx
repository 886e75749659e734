import { Anchor, Paper, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCanCreateAssessments } from '../../queries/groups.ts';
import { currentUser } from '../../session/current-user.ts';
import classes from './home-page.module.css';

const STEPS = [
  {
    to: '/assessments',
    does: 'Begin an assessment',
    why: 'It holds what is found, who may see it and the hours that it took.',
    for: 'creators',
  },
  {
    to: '/assets',
    does: 'Add what is tested',
    why: 'Paste hosts and addresses; they are the assets in its scope.',
  },
  {
    to: '/imports',
    does: 'Import a report',
    why: 'Drop the file of a scanner. You see what it would change before anything does.',
  },
  {
    to: '/people',
    does: 'Invite people',
    why: 'Who is invited sees the assessments that you give them.',
    for: 'admins',
  },
] as const;

/** What to do first, where nothing has been found yet. */
export function GettingStarted() {
  const { data: who } = useQuery(currentUser);
  const mayCreate = useCanCreateAssessments();
  const may = { creators: mayCreate, admins: who?.admin === true };
  return (
    <Paper component="section" withBorder p="lg" className={classes.card}>
      <Title order={2} size="h4">
        Nothing has been found yet
      </Title>
      <Text c="dimmed" mb="md">
        {who?.admin === true
          ? 'Four steps, and the first findings are here to be triaged.'
          : 'Findings show here once they are reported or imported in an assessment that you have access to.'}
      </Text>
      <ol className={classes.steps}>
        {STEPS.filter((step) => !('for' in step) || may[step.for]).map(({ to, does, why }) => (
          <li key={to}>
            <Anchor component={Link} to={to} fw={600}>
              {does}
            </Anchor>
            <Text size="sm" c="dimmed">
              {why}
            </Text>
          </li>
        ))}
      </ol>
    </Paper>
  );
}
