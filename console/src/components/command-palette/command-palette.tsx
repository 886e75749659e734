import { Kbd } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import type { Shortcuts } from '../../app/shortcuts.tsx';
import { Dialog } from '../dialog.tsx';
import type { Choice } from './choice.ts';
import classes from './command-palette.module.css';
import { paletteMessages as messages } from './messages.ts';
import { PaletteOption } from './palette-option.tsx';
import type { SearchKind } from './search-kinds.tsx';
import { usePaletteGroups } from './use-palette-groups.tsx';

/** Milliseconds from a keystroke to the search, after the first one. */
const SEARCH_DEBOUNCE = 30;

interface CommandPaletteProps {
  /** The actions of the page, by their keys. */
  actions: Shortcuts;
  /** Whether these keys work. */
  showsKeys: boolean;
  onClose: () => void;
  /** Closes the palette, and then runs an action of the page. */
  onRun: (run: () => void) => void;
}

/** Searches everything that the reader may see, and opens it or runs an action. */
export function CommandPalette({ actions, showsKeys, onClose, onRun }: CommandPaletteProps) {
  const id = useId();
  const router = useRouter();
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [kind, setKind] = useState<SearchKind>();
  const [activeKey, setActiveKey] = useState<string>();
  // Set if Enter is pressed before the results are loaded: where to open the first one.
  const pendingEnter = useRef<'here' | 'newTab'>(undefined);
  const [debounced] = useDebouncedValue(typed.trim(), SEARCH_DEBOUNCE, { leading: true });
  // Without a text there is nothing to wait for.
  const text = typed.trim() === '' ? '' : debounced;
  const { groups, kinds, status, isPending } = usePaletteGroups({ text, kind, actions, showsKeys });
  const choices = groups.flatMap((group) => group.choices);
  const active = choices.find(({ key }) => key === activeKey) ?? choices[0];
  const isSettled = !isPending && text === typed.trim();
  const optionId = ({ key }: Choice) => `${id}-${key}`;
  const activeId = active === undefined ? undefined : optionId(active);

  const open = (choice: Choice, tab: 'here' | 'newTab') => {
    const { link, run } = choice;
    if (link === undefined) {
      if (run !== undefined) onRun(run);
    } else if (tab === 'newTab') window.open(router.buildLocation(link as object).href, '_blank', 'noopener');
    else {
      onClose();
      void navigate(link as object);
    }
  };
  useEffect(() => {
    if (activeId !== undefined) document.getElementById(activeId)?.scrollIntoView({ block: 'nearest' });
  }, [activeId]);
  useEffect(() => {
    const tab = pendingEnter.current;
    if (tab === undefined || !isSettled) return;
    pendingEnter.current = undefined;
    if (active !== undefined) open(active, tab);
  });

  const search = (change: { typed?: string; kind?: SearchKind | undefined }) => {
    if (change.typed !== undefined) setTyped(change.typed);
    if ('kind' in change) setKind(change.kind);
    setActiveKey(undefined);
    pendingEnter.current = undefined;
  };
  const move = (step: number) => {
    const index = choices.findIndex(({ key }) => key === active?.key) + step;
    setActiveKey(choices.at(index % Math.max(1, choices.length))?.key);
  };
  const handleKey = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, shiftKey, nativeEvent } = event;
    const isCombined = ctrlKey || metaKey;
    // Enter confirms what an input method composes.
    if (nativeEvent.isComposing) return;
    if (key === 'ArrowDown') move(1);
    else if (key === 'ArrowUp') move(-1);
    else if (key === 'Enter') {
      const tab = isCombined ? 'newTab' : 'here';
      if (isSettled || activeKey !== undefined) {
        if (active !== undefined) open(active, tab);
      } else pendingEnter.current = tab;
    } else if (key === 'Tab' && !isCombined) {
      const all = [undefined, ...kinds];
      search({ kind: all.at((all.indexOf(kind) + (shiftKey ? -1 : 1)) % all.length) });
    } else if (key === 'Backspace' && typed === '' && kind !== undefined) search({ kind: undefined });
    else if (isCombined && key.toLowerCase() === 'k') onClose();
    else return;
    event.preventDefault();
  };

  return (
    <Dialog
      onClose={onClose}
      withCloseButton={false}
      centered={false}
      size={640}
      yOffset="12dvh"
      classNames={{ content: classes.content, body: classes.body, inner: classes.inner }}
      attributes={{ content: { 'aria-label': messages.title } }}
    >
      <div className={classes.query}>
        <IconSearch size={16} stroke={1.75} aria-hidden />
        <input
          role="combobox"
          data-autofocus
          aria-label={messages.field}
          aria-autocomplete="list"
          aria-expanded={choices.length > 0}
          aria-controls={choices.length > 0 ? id : undefined}
          aria-activedescendant={activeId}
          autoComplete="off"
          spellCheck={false}
          maxLength={255}
          value={typed}
          onChange={(event) => search({ typed: event.currentTarget.value })}
          onKeyDown={handleKey}
        />
        <button
          type="button"
          tabIndex={-1}
          className={classes.close}
          aria-label={messages.close}
          onClick={onClose}
        >
          <Kbd aria-hidden>Esc</Kbd>
        </button>
      </div>
      <KindButtons kinds={kinds} kind={kind} onKind={(selected) => search({ kind: selected })} />
      {choices.length > 0 && (
        <div id={id} role="listbox" aria-label={messages.results} className={classes.results}>
          {groups.map(({ name, label, choices: options }) => (
            <div key={name} role="group" aria-labelledby={`${id}-${name}`}>
              <div className={classes.label} id={`${id}-${name}`} role="presentation">
                {label}
              </div>
              {options.map((choice) => (
                <PaletteOption
                  key={choice.key}
                  id={optionId(choice)}
                  choice={choice}
                  text={text}
                  isActive={choice.key === active?.key}
                  onActivate={() => setActiveKey(choice.key)}
                  onChoose={({ link, run }) => {
                    if (link !== undefined) onClose();
                    else if (run !== undefined) onRun(run);
                  }}
                />
              ))}
            </div>
          ))}
        </div>
      )}
      {choices.length === 0 && isSettled && text !== '' && (
        <p className={classes.nothing}>{messages.nothing(text)}</p>
      )}
      <footer className={classes.foot}>
        <Hint keys={['↑', '↓']} label={messages.hints.choose} />
        <Hint keys={['↵']} label={messages.hints.open} />
        <Hint keys={['Ctrl', '↵']} label={messages.hints.newTab} />
        <Hint keys={['Tab']} label={messages.hints.narrow} />
        <span className={classes.count} role="status">
          {isSettled ? status : messages.searching}
        </span>
      </footer>
    </Dialog>
  );
}

interface KindButtonsProps {
  kinds: readonly SearchKind[];
  kind: SearchKind | undefined;
  onKind: (kind: SearchKind | undefined) => void;
}

/** Selects the kinds to search. They are not tab stops, because the Tab key selects the next one from the field. */
const KindButtons = ({ kinds, kind, onKind }: KindButtonsProps) => (
  <div role="group" aria-label={messages.kinds} className={classes.kinds}>
    {[undefined, ...kinds].map((option) => (
      <button
        key={option ?? ''}
        type="button"
        tabIndex={-1}
        aria-pressed={option === kind}
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => onKind(option)}
      >
        {option === undefined ? messages.everything : messages[option]}
      </button>
    ))}
  </div>
);

const Hint = ({ keys, label }: { keys: readonly string[]; label: string }) => (
  <span className={classes.hint} aria-hidden>
    {keys.map((key) => (
      <Kbd key={key} mr={4}>
        {key}
      </Kbd>
    ))}
    {label}
  </span>
);
