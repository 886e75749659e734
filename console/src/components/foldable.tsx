import { Button } from '@mantine/core';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { commonMessages } from './messages.ts';
import { useIsPrinting } from './printing.ts';
import classes from './foldable.module.css';

const messages = commonMessages.fold;

interface FoldButtonProps {
  /** The id of the folded element. */
  id: string;
  /** The label while it is folded. */
  label: string;
  isExpanded: boolean;
  onChange: (isExpanded: boolean) => void;
}

const FoldButton = ({ id, label, isExpanded, onChange }: FoldButtonProps) => (
  <Button
    size="xs"
    variant="subtle"
    mt="xs"
    aria-controls={id}
    aria-expanded={isExpanded}
    onClick={() => onChange(!isExpanded)}
  >
    {isExpanded ? messages.showLess : label}
  </Button>
);

/** Folds content that is taller than 1,200 pixels. */
export function Foldable({ children }: { children: ReactNode }) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [isTall, setTall] = useState(false);
  const [isExpanded, setExpanded] = useState(false);
  useEffect(() => {
    if (content.current === null || isExpanded) return undefined;
    const observer = new ResizeObserver(() => {
      if (box.current !== null) setTall(box.current.scrollHeight > box.current.clientHeight);
    });
    observer.observe(content.current);
    return () => observer.disconnect();
  }, [isExpanded]);
  return (
    <>
      <div
        id={id}
        ref={box}
        className={classes.box}
        data-expanded={isExpanded || undefined}
        data-tall={isTall || undefined}
        // The browser scrolls to a match of its search, or to the focus, in the folded part.
        onScroll={() => setExpanded(true)}
      >
        <div ref={content}>{children}</div>
      </div>
      {isTall && (
        <FoldButton id={id} label={messages.showAll} isExpanded={isExpanded} onChange={setExpanded} />
      )}
    </>
  );
}

/** Items shown while a list is folded. */
const FOLDED_ITEMS = 10;

interface FoldableListProps<Item> {
  items: readonly Item[];
  className?: string | undefined;
  children: (item: Item) => ReactNode;
}

/** Folds a list of more than ten items. */
export function FoldableList<Item>({ items, className, children }: FoldableListProps<Item>) {
  const id = useId();
  const [isExpanded, setExpanded] = useState(false);
  const shown = useIsPrinting() || isExpanded ? items : items.slice(0, FOLDED_ITEMS);
  return (
    <>
      <ul id={id} className={className}>
        {shown.map((item, index) => (
          <li key={index}>{children(item)}</li>
        ))}
      </ul>
      {items.length > FOLDED_ITEMS && (
        <FoldButton
          id={id}
          label={messages.showAllOf(items.length)}
          isExpanded={isExpanded}
          onChange={setExpanded}
        />
      )}
    </>
  );
}
