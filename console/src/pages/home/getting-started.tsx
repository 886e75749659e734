import { Anchor, Paper, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { DimmedText } from '../../components/dimmed-text.tsx';
import {
  currentUserQuery,
  useAssetPermissions,
  useCanCreateAssessments,
  useCanImport,
} from '../../session/permissions.ts';
import { homeMessages as messages } from './messages.ts';
import classes from './home-page.module.css';

const STEPS = [
  { to: '/assessments', step: 'assessment', for: 'creators' },
  { to: '/assets', step: 'assets', for: 'assetWriters' },
  { to: '/imports', step: 'report', for: 'importers' },
  { to: '/people', step: 'people', for: 'admins' },
] as const;

/** Shown on the home page until there are findings. */
export function GettingStarted() {
  const { data: user } = useQuery(currentUserQuery);
  const canCreate = useCanCreateAssessments();
  const isFor = {
    creators: canCreate,
    assetWriters: useAssetPermissions().write,
    importers: useCanImport(),
    admins: user?.admin === true,
  };
  const steps = STEPS.filter((item) => isFor[item.for]);
  return (
    <Paper component="section" withBorder p="lg" className={classes.card}>
      <Title order={2} size="h4">
        {messages.noFindings}
      </Title>
      <Text c="dimmed" mb={steps.length > 0 ? 'md' : 0}>
        {user?.admin === true ? messages.startAsAdmin : messages.startAsMember}
      </Text>
      {steps.length > 0 && (
        <ol className={classes.steps}>
          {steps.map(({ to, step }) => (
            <li key={to}>
              <Anchor component={Link} to={to} fw={600}>
                {messages.steps[step][0]}
              </Anchor>
              <DimmedText>{messages.steps[step][1]}</DimmedText>
            </li>
          ))}
        </ol>
      )}
    </Paper>
  );
}
