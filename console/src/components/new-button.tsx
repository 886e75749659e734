import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import classes from './new-button.module.css';

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
    size: 'xs',
    leftSection: <IconPlus size={14} aria-hidden />,
    children: (
      <span>
        {verb}
        <span className={classes.itemName}> {itemName}</span>
      </span>
    ),
  };
  return to === undefined ? (
    <Button {...common} {...(onClick === undefined ? {} : { onClick })} />
  ) : (
    <Button {...common} component={Link} to={to} />
  );
}
