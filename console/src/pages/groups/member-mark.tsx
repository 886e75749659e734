import type { GroupMember } from '../../../../client/src/openapi-types.ts';
import { PersonMark } from '../../components/identity-marks.tsx';

export const memberName = ({ userName, userEmail, userUid }: GroupMember) => userName ?? userEmail ?? userUid;

/** The initials of a member in a circle. */
export const MemberMark = ({ member }: { member: GroupMember }) => (
  <PersonMark person={{ id: member.userUid, email: memberName(member) }} />
);
