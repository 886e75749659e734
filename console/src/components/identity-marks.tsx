import { IconUser } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Skeleton } from '@mantine/core';
import { hueOf, initialsOf } from '../../../client/src/identity-marks.ts';
import { organizationsQuery } from '../queries/organizations.ts';
import { personName } from '../queries/people.ts';
import { LabelledMark } from './labelled-mark.tsx';
import { commonMessages } from './messages.ts';
import classes from './identity-marks.module.css';

const messages = commonMessages.person;

interface PersonMarkProps {
  /** `null` for an unassigned vulnerability. */
  person: { id: number | string; name?: string | null; email: string } | null;
  /** Whether the name stands beside the mark; otherwise it is a tooltip and for screen readers. */
  withLabel?: boolean;
  /** Whether the person is the reader, as the name then says. */
  isReader?: boolean;
}

/** The initials of a person in a circle. */
export function PersonMark({ person, withLabel = false, isReader = false }: PersonMarkProps) {
  if (person === null)
    return (
      <LabelledMark label={messages.assignee(null)} withLabel={withLabel} className={classes.person}>
        <IconUser size={12} aria-hidden />
      </LabelledMark>
    );
  const name = personName(person);
  return (
    <LabelledMark
      label={isReader ? messages.you(name) : name}
      withLabel={withLabel}
      className={classes.person}
      data-hue={hueOf(person.id)}
      data-letter={initialsOf(name)}
    />
  );
}

interface OrganizationMarkProps {
  organization: { id: number; name: string };
  /** 16 or 22 pixels. */
  size?: 'sm' | 'md';
  withLabel?: boolean;
}

/** The initials of an organization in a square. */
export const OrganizationMark = ({
  organization: { id, name },
  size = 'md',
  withLabel = false,
}: OrganizationMarkProps) => (
  <LabelledMark
    label={name}
    withLabel={withLabel}
    className={classes.organization}
    data-hue={hueOf(id)}
    data-letter={initialsOf(name)}
    data-size={size}
  />
);

/** The mark and the name of an organization, or its uid if the user cannot read it. */
export function OrganizationName({ uid }: { uid: string }) {
  const { data, isPending } = useQuery(organizationsQuery);
  if (isPending) return <Skeleton component="span" display="inline-block" width={96} height={12} />;
  const organization = data?.find((found) => found.uid === uid);
  return organization === undefined ? (
    uid
  ) : (
    <OrganizationMark organization={organization} size="sm" withLabel />
  );
}

/** A tag: a dot in its hue, and its name. */
export const TagDot = ({ id, name }: { id: number | string; name: string }) => (
  <span className={classes.tag} data-hue={hueOf(id)} title={name}>
    <bdi>{name}</bdi>
  </span>
);
