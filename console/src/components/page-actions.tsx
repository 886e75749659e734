import { Button, ActionIcon } from '@mantine/core';
import { IconPencil, IconPlus, type Icon } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import classes from './page-actions.module.css';

/** A text beside an icon, which stands alone in narrow windows. */
export const WideText = ({ children }: { children: ReactNode }) => (
  <span className={classes.wide}>{children}</span>
);

interface ActionProps {
  onClick: () => void;
}

/** Edits the object of a page. */
export function EditButton({ onClick }: ActionProps) {
  return (
    <Button variant="default" leftSection={<IconPencil size={16} aria-hidden />} onClick={onClick}>
      Edit
    </Button>
  );
}

interface NewButtonProps {
  /** Defaults to "New". */
  verb?: string;
  /** Noun; visually hidden on narrow screens. */
  itemName: string;
  /** Link target, instead of `onClick`. */
  to?: '/vulnerabilities/new';
  onClick?: () => void;
}

/** The main action of a page. */
export function NewButton({ verb = 'New', itemName, to, onClick }: NewButtonProps) {
  const common = {
    leftSection: <IconPlus size={16} aria-hidden />,
    children: (
      <span>
        {verb}
        <WideText> {itemName}</WideText>
      </span>
    ),
  };
  return to === undefined ? (
    <Button {...common} {...(onClick === undefined ? {} : { onClick })} />
  ) : (
    <Button {...common} component={Link} to={to} />
  );
}

interface IconActionProps {
  /** Accessible name: "Delete Ada's session". */
  label: string;
  icon: Icon;
  isPending?: boolean;
  /** Whether the content that it controls is expanded. */
  isExpanded?: boolean;
  onClick: () => void;
}

/** A button with only an icon, as in the rows of a table. */
export function IconAction({ label, icon: Icon, isPending = false, isExpanded, onClick }: IconActionProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={label}
      aria-expanded={isExpanded}
      title={label}
      loading={isPending}
      onClick={onClick}
    >
      <Icon size={16} aria-hidden />
    </ActionIcon>
  );
}
