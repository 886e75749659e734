import { Kbd } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Choice } from './choice.ts';
import classes from './command-palette.module.css';

interface PaletteOptionProps {
  id: string;
  choice: Choice;
  /** The search text, which is highlighted in the name. */
  text: string;
  isActive: boolean;
  onActivate: () => void;
  /** Runs after the choice was opened or is to be run. */
  onChoose: (choice: Choice) => void;
}

/** A choice of the palette: a link where it leads to a page, so that the mouse can open it in a new tab as well. */
export function PaletteOption({ id, choice, text, isActive, onActivate, onChoose }: PaletteOptionProps) {
  const { mark, name, detail, end, shortcut, link } = choice;
  const common = {
    id,
    className: classes.option,
    onMouseMove: isActive ? undefined : onActivate,
    onMouseDown: (event: React.MouseEvent) => event.preventDefault(),
  };
  const children = (
    <>
      <span className={classes.mark}>{mark}</span>
      <span className={classes.text}>
        <bdi className={classes.name}>
          <Marked text={text}>{name}</Marked>
        </bdi>
        {detail !== undefined && <span className={classes.detail}> {detail}</span>}
      </span>
      {end}
      {shortcut?.split(' ').map((key) => (
        <Kbd key={key} aria-hidden>
          {key}
        </Kbd>
      ))}
    </>
  );
  return link === undefined ? (
    <div {...common} role="option" tabIndex={-1} aria-selected={isActive} onClick={() => onChoose(choice)}>
      {children}
    </div>
  ) : (
    <Link
      {...link}
      {...common}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      preload={false}
      activeProps={{}}
      onClick={({ ctrlKey, metaKey, shiftKey }) => {
        if (!ctrlKey && !metaKey && !shiftKey) onChoose(choice);
      }}
    >
      {children}
    </Link>
  );
}

/** A text in which the searched words are marked. */
function Marked({ text, children }: { text: string; children: string }) {
  const words = text.split(/\s+/).filter(Boolean);
  if (words.length === 0) return children;
  const pattern = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)).join('|');
  return children
    .split(new RegExp(`(${pattern})`, 'giu'))
    .map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part));
}
