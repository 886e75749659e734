import { UnstyledButton } from '@mantine/core';
import { IconFileDescription } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { CardState } from './import-file-card.tsx';
import { importMessages } from './messages.ts';
import type { DroppedFile } from './new-imports.tsx';
import classes from './report-list.module.css';

interface ReportListProps {
  files: readonly DroppedFile[];
  states: Readonly<Record<number, CardState>>;
  /** The id of the report that is shown. */
  shown: number | undefined;
  onShow: (id: number) => void;
  children: ReactNode;
}

/** Reports beside a list of them, each with what its import would change or how it ended. A single one has no list. */
export const ReportList = ({ files, states, shown, onShow, children }: ReportListProps) => (
  <div className={files.length > 1 ? classes.withList : undefined}>
    {files.length > 1 && (
      <ul className={classes.list} aria-label={importMessages.bar.files}>
        {files.map(({ id, file }) => (
          <li key={id}>
            <UnstyledButton aria-current={id === shown || undefined} onClick={() => onShow(id)}>
              <IconFileDescription size={16} aria-hidden />
              <span>
                <bdi>{file.name}</bdi>
                <small>{states[id]?.summary}</small>
              </span>
            </UnstyledButton>
          </li>
        ))}
      </ul>
    )}
    {children}
  </div>
);
