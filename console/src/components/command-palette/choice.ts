import type { LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** Something to open or run. */
export interface Choice {
  key: string;
  /** Shown before the name. */
  mark: ReactNode;
  name: string;
  detail?: ReactNode;
  /** Shown at the end: a status. */
  end?: ReactNode;
  /** The shortcut that does the same. */
  shortcut?: string;
  link?: Pick<LinkProps, 'to' | 'params' | 'search'>;
  run?: () => void;
}

export interface ChoiceGroup {
  name: string;
  label: string;
  choices: readonly Choice[];
}
