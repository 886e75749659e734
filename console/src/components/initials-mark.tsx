import classes from './initials-mark.module.css';

/** @returns the first letters of the first and the last word */
function initialsOf(name: string): string {
  const words = name.split(/[\s@.]+/u).filter(Boolean);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map(
    (word) => [...(word ?? '')][0] ?? '',
  );
  return letters.join('').toLocaleUpperCase();
}

interface MarkProps {
  id: number;
  name: string;
  isSmall?: boolean;
}

export function OrganizationMark({
  organization: { id, name },
  isSmall = false,
}: {
  organization: Omit<MarkProps, 'isSmall'>;
  isSmall?: boolean;
}) {
  return (
    <span className={classes.organization} data-hue={id % 8} data-small={isSmall || undefined} aria-hidden>
      {initialsOf(name)}
    </span>
  );
}

export function PersonMark({
  person: { id, name, email },
}: {
  person: { id: number; name?: string | null; email: string };
}) {
  return (
    <span className={classes.person} data-hue={id % 8} aria-hidden>
      {initialsOf(name ?? email)}
    </span>
  );
}
