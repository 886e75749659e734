import { ActionIcon, Anchor, Stack, Text } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { User } from '../../../../client/src/description.ts';
import { assessment as assessmentQuery } from '../../queries/assessments.ts';
import { useUpdatePerson } from '../../queries/people.ts';
import { AsyncSelect } from '../../components/async-select.tsx';
import { findAssessments } from './find-assessments.ts';
import classes from './person-page.module.css';

interface PersonAssessmentsProps {
  person: User;
  canEdit: boolean;
}

/** The assessments that somebody was given access to by name (operation 56). */
export function PersonAssessments({ person, canEdit }: PersonAssessmentsProps) {
  const change = useUpdatePerson();
  const { assessment_ids: given } = person;
  const set = (assessments: string[], message: string) =>
    change.mutate({ person, set: { assessments }, message, revert: { assessments: given } });
  return (
    <Stack gap="sm">
      {person.admin === true && (
        <Text size="sm" c="dimmed">
          {person.staff ? 'Staff' : 'An admin'} reaches all of them anyway.
        </Text>
      )}
      {canEdit && !person.banned && (
        <AsyncSelect
          label="Give access to"
          optionsKey={['assessments', person.organization_uid ?? '']}
          loadOptions={async (search, signal) =>
            (await findAssessments(search, signal, person.organization_uid ?? undefined)).filter(
              ({ value }) => !given.includes(value),
            )
          }
          value={null}
          clearsOnSelect
          disabled={change.isPending}
          onChange={(one) => one !== null && set([...given, one.value], `Access to ${one.label} is given.`)}
        />
      )}
      {given.length === 0 && person.admin !== true && (
        <Text size="sm" c="dimmed">
          None yet: they see nothing until they are given access to an assessment.
        </Text>
      )}
      <ul className={classes.given} aria-label="Assessments that they reach">
        {given.map((uid) => (
          <li key={uid}>
            <Anchor component={Link} to={`/assessments/${uid}`} size="sm">
              <AssessmentName uid={uid} />
            </Anchor>
            {canEdit && !person.banned && (
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Take the access to ${uid}`}
                onClick={() =>
                  set(
                    given.filter((other) => other !== uid),
                    `Access to ${uid} is taken.`,
                  )
                }
              >
                <IconX size={16} />
              </ActionIcon>
            )}
          </li>
        ))}
      </ul>
    </Stack>
  );
}

function AssessmentName({ uid }: { uid: string }) {
  const { data } = useQuery(assessmentQuery(uid));
  return data?.name ?? uid;
}
