import { maySetStatus } from '../../queries/statuses.ts';
import type { VulnerabilityRights } from '../../session/permissions.ts';

export type EditKind = 'status' | 'severity' | 'tags' | 'assignee' | 'due' | 'comment';

export const EDIT_KINDS: readonly EditKind[] = ['status', 'severity', 'assignee', 'due', 'tags', 'comment'];

/** A vulnerability to edit, with the user's permissions on it. */
export interface EditTarget {
  id: number;
  status_id: number;
  draft?: boolean;
  rights: VulnerabilityRights;
}

/** Whether the user may edit one field of a vulnerability. */
export function mayEdit(kind: EditKind, { status_id: from, rights }: EditTarget): boolean {
  switch (kind) {
    case 'status':
      return rights.triage || rights.dismiss || maySetStatus(rights, { from, to: from });
    case 'severity':
      return rights.edit;
    case 'tags':
      return rights.triage;
    case 'assignee':
    case 'due':
    case 'comment':
      return rights.comment;
  }
}
