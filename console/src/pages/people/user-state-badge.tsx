import { Group } from '@mantine/core';
import { IconBan, IconCircleCheck, IconMail } from '@tabler/icons-react';
import type { ListedUser } from '../../../../client/src/openapi-types.ts';

/** The state of a user, by icon and label. */
export function UserStateBadge({ person: { banned, invite_url } }: { person: Omit<ListedUser, 'uid'> }) {
  const [Icon, label] =
    banned === true
      ? [IconBan, 'Banned']
      : typeof invite_url === 'string'
        ? [IconMail, 'Invited']
        : [IconCircleCheck, 'Active'];
  return (
    <Group gap={6} wrap="nowrap" component="span" display="inline-flex" style={{ verticalAlign: 'top' }}>
      <Icon size={15} aria-hidden />
      {label}
    </Group>
  );
}
