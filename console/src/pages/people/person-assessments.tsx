import { Anchor, Stack } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { User } from '../../../../client/src/openapi-types.ts';
import { assessmentQuery, findAssessments } from '../../queries/assessments.ts';
import { useUpdatePerson } from '../../queries/people.ts';
import { IconAction } from '../../components/page-actions.tsx';
import { AsyncSelect } from '../../components/async-select.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import classes from './person-page.module.css';
import { peopleMessages } from './messages.ts';

interface PersonAssessmentsProps {
  person: User;
  canEdit: boolean;
}

const messages = peopleMessages.access;

/** The assessments that a person has direct access to (operation 56). */
export function PersonAssessments({ person, canEdit }: PersonAssessmentsProps) {
  const change = useUpdatePerson();
  const { assessment_ids: assignedUids } = person;
  const set = (assessments: string[], message: string) =>
    change.mutate({ person, set: { assessments }, message, revert: { assessments: assignedUids } });
  return (
    <Stack gap="sm">
      {person.admin === true && (
        <DimmedText>{person.staff ? messages.allForStaff : messages.allForAdmins}</DimmedText>
      )}
      {canEdit && !person.banned && (
        <AsyncSelect
          label={messages.give}
          optionsKey={['assessments', person.organization_uid ?? '']}
          loadOptions={async (search, signal) =>
            (
              await findAssessments(search, signal, { organizationUid: person.organization_uid ?? undefined })
            ).filter(({ value }) => !assignedUids.includes(value))
          }
          value={null}
          clearsOnSelect
          disabled={change.isPending}
          onChange={(option) =>
            option !== null && set([...assignedUids, option.value], messages.given(option.label))
          }
        />
      )}
      {assignedUids.length === 0 && person.admin !== true && <DimmedText>{messages.none}</DimmedText>}
      <ul className={classes.assessments} aria-label={messages.label}>
        {assignedUids.map((uid) => (
          <li key={uid}>
            <Anchor component={Link} to={`/assessments/${uid}`} size="sm">
              <AssessmentName uid={uid} />
            </Anchor>
            {canEdit && !person.banned && (
              <IconAction
                label={messages.remove(uid)}
                icon={IconX}
                onClick={() =>
                  set(
                    assignedUids.filter((assignedUid) => assignedUid !== uid),
                    messages.removed(uid),
                  )
                }
              />
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
