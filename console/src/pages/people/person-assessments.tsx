import { Anchor } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { User } from '../../../../client/src/openapi-types.ts';
import { findAssessments } from '../../queries/assessments.ts';
import { useAssessmentName } from '../../queries/names.ts';
import { useUpdatePerson } from '../../queries/people.ts';
import { AssessmentName } from '../../components/assessment-name.tsx';
import { AsyncSelect } from '../../components/async-select.tsx';
import { DimmedText } from '../../components/dimmed-text.tsx';
import { IconAction } from '../../components/page-actions.tsx';
import { PageSection } from '../../components/section.tsx';
import classes from './person-page.module.css';
import { peopleMessages } from './messages.ts';

interface PersonAssessmentsProps {
  person: User;
  canEdit: boolean;
}

const messages = peopleMessages.access;

/** The assessments that a person has access to, by name (operation 56) and by group. */
export function PersonAssessments({ person, canEdit }: PersonAssessmentsProps) {
  const change = useUpdatePerson();
  const { assessment_ids: namedUids, accessible_assessment_ids: uids = [] } = person;
  const groupUids = uids.filter((uid) => !namedUids.includes(uid));
  const canChange = canEdit && !person.banned;
  const set = (assessments: string[], message: string) =>
    change.mutate({ person, set: { assessments }, message, revert: { assessments: namedUids } });
  return (
    <>
      <PageSection title={messages.byName}>
        {person.admin === true && (
          <DimmedText>{person.staff ? messages.allForStaff : messages.allForAdmins}</DimmedText>
        )}
        {canChange && (
          <AsyncSelect
            label={messages.give}
            optionsKey={['assessments', person.organization_uid ?? '']}
            loadOptions={async (search, signal) =>
              (
                await findAssessments(search, signal, {
                  organizationUid: person.organization_uid ?? undefined,
                })
              ).filter(({ value }) => !namedUids.includes(value))
            }
            value={null}
            clearsOnSelect
            disabled={change.isPending}
            onChange={(option) =>
              option !== null && set([...namedUids, option.value], messages.given(option.label))
            }
          />
        )}
        {namedUids.length === 0 && person.admin !== true && (
          <DimmedText>{groupUids.length === 0 ? messages.none : messages.noneByName}</DimmedText>
        )}
        <Assessments
          uids={namedUids}
          onRemove={
            canChange
              ? (uid, name) =>
                  set(
                    namedUids.filter((namedUid) => namedUid !== uid),
                    messages.removed(name),
                  )
              : undefined
          }
        />
      </PageSection>
      {groupUids.length > 0 && (
        <PageSection title={messages.byGroup}>
          <Assessments uids={groupUids} />
        </PageSection>
      )}
    </>
  );
}

interface AssessmentsProps {
  uids: readonly string[];
  onRemove?: ((uid: string, name: string) => void) | undefined;
}

const Assessments = ({ uids, onRemove }: AssessmentsProps) => (
  <ul className={classes.assessments}>
    {uids.map((uid) => (
      <li key={uid}>
        <Anchor component={Link} to={`/assessments/${uid}`} size="sm">
          <AssessmentName uid={uid} />
        </Anchor>
        {onRemove !== undefined && <RemoveButton uid={uid} onRemove={onRemove} />}
      </li>
    ))}
  </ul>
);

function RemoveButton({ uid, onRemove }: { uid: string } & Required<Pick<AssessmentsProps, 'onRemove'>>) {
  const name = useAssessmentName(uid) ?? uid;
  return <IconAction label={messages.remove(name)} icon={IconX} onClick={() => onRemove?.(uid, name)} />;
}
