import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import classes from './new-button.module.css';

interface NewButtonProps {
  /** "New" unless told. */
  verb?: string;
  /** What comes into being; left to screen readers where there is little room. */
  itemName: string;
  /** Where it leads, in place of what it does. */
  to?: '/vulnerabilities/new';
  onClick?: () => void;
}

/** The main action of a place, which looks alike in all of them. */
export function NewButton({ verb = 'New', itemName, to, onClick }: NewButtonProps) {
  const common = {
    size: 'xs',
    leftSection: <IconPlus size={14} aria-hidden />,
    children: (
      <span>
        {verb}
        <span className={classes.noun}> {itemName}</span>
      </span>
    ),
  };
  return to === undefined ? (
    <Button {...common} {...(onClick === undefined ? {} : { onClick })} />
  ) : (
    <Button {...common} component={Link} to={to} />
  );
}
