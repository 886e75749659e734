import { Button, Menu } from '@mantine/core';
import { IconFileImport, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useShortcuts } from '../../app/shortcuts.tsx';
import type { VersionedAssessment } from '../../queries/assessments.ts';
import type { AssessmentState } from '../../queries/enums.ts';
import { MoreMenu } from '../../components/more-menu.tsx';
import { currentUserQuery } from '../../session/permissions.ts';
import { assessmentMessages as messages } from './messages.ts';

interface AssessmentActionsProps {
  assessment: VersionedAssessment;
  /** Undefined without permission, which changes of the state need as well. */
  onEdit: (() => void) | undefined;
  onDelete: () => void;
  onState: (state: AssessmentState) => void;
}

/** Import, New finding, and a menu with the rest. */
export function AssessmentActions({ assessment, onEdit, onDelete, onState }: AssessmentActionsProps) {
  const { uid, state, permissions } = assessment;
  const { data: user } = useQuery(currentUserQuery);
  const navigate = useNavigate();
  const canReport = permissions?.report === true;
  const canDelete = user?.admin === true;
  const search = { assessment: uid };
  useShortcuts(
    canReport
      ? {
          n: {
            label: messages.newFinding,
            run: () => void navigate({ to: '/vulnerabilities/new', search }),
          },
        }
      : {},
  );
  return (
    <>
      {permissions?.write_assets === true && (
        <Button
          variant="default"
          leftSection={<IconFileImport size={16} aria-hidden />}
          renderRoot={(props) => <Link to="/imports" search={{ assessment_id: [uid] }} {...props} />}
        >
          {messages.import}
        </Button>
      )}
      {canReport && (
        <Button
          leftSection={<IconPlus size={16} aria-hidden />}
          title={`${messages.newFinding} (n)`}
          renderRoot={(props) => <Link to="/vulnerabilities/new" search={search} {...props} />}
        >
          {messages.newFinding}
        </Button>
      )}
      {(onEdit !== undefined || canDelete) && (
        <MoreMenu>
          {onEdit !== undefined && (
            <>
              <Menu.Item onClick={onEdit}>Edit</Menu.Item>
              {state !== 'completed' && (
                <Menu.Item onClick={() => onState('completed')}>{messages.complete}</Menu.Item>
              )}
              <Menu.Item onClick={() => onState(state === 'active' ? 'paused' : 'active')}>
                {state === 'active' ? messages.pause : messages.activate}
              </Menu.Item>
            </>
          )}
          {canDelete && (
            <Menu.Item color="red" onClick={onDelete}>
              Delete
            </Menu.Item>
          )}
        </MoreMenu>
      )}
    </>
  );
}
