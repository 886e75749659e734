import {
  createContext,
  lazy,
  type ReactNode,
  Suspense,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';

const ShortcutsHelp = lazy(() => import('./shortcuts-help.tsx'));

/**
 * Actions by key, such as `j`, by a sequence of two keys, such as `g h`, or by a combination, such as `Ctrl K`; the help
 * shows their labels.
 */
export type Shortcuts = Readonly<Record<string, { label: string; run: () => void }>>;

/** Milliseconds to wait for the second key of a sequence. */
const SEQUENCE_TIMEOUT = 1_500;
/** Inputs in which shortcuts work, as they take no text. */
const NON_TEXT_INPUTS = 'input[type="checkbox"], input[type="radio"]';

type Layers = Set<{ current: Shortcuts }>;
const LayersContext = createContext<Layers>(new Set());

interface ShortcutsControl {
  /** Whether shortcuts work (WCAG 2.2, 2.1.4: those of a single key can be turned off). */
  areOn: boolean;
  setAreOn: (areOn: boolean) => void;
  showHelp: () => void;
  /** Returns the shortcuts of the current page. */
  listShortcuts: () => Shortcuts;
}
const ControlContext = createContext<ShortcutsControl | undefined>(undefined);
const OFF_KEY = 'assay-shortcuts-off';

/** Turns shortcuts on and off in this browser, and lists them. */
export function useShortcutsControl(): ShortcutsControl {
  const control = useContext(ControlContext);
  if (control === undefined) throw new Error('useShortcutsControl needs a ShortcutsProvider.');
  return control;
}

/** Registers shortcuts while the component is mounted; later ones take precedence. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const layers = useContext(LayersContext);
  const layer = useRef(shortcuts);
  useEffect(() => {
    layer.current = shortcuts;
  });
  useEffect(() => {
    layers.add(layer);
    return () => {
      layers.delete(layer);
    };
  }, [layers]);
}

/** Handles shortcuts, those of single keys outside text fields, and lists them on `?`. */
export function ShortcutsProvider({ children }: { children: ReactNode }) {
  const layers = useMemo<Layers>(() => new Set(), []);
  const [help, setHelp] = useState<Shortcuts | undefined>();
  const [areOn, setAreOn] = useState(() => localStorage.getItem(OFF_KEY) === null);
  const control = useMemo((): ShortcutsControl => {
    const listShortcuts = () => Object.assign({}, ...[...layers].map(({ current }) => current)) as Shortcuts;
    return {
      areOn,
      setAreOn(on) {
        setAreOn(on);
        if (on) localStorage.removeItem(OFF_KEY);
        else localStorage.setItem(OFF_KEY, 'true');
      },
      showHelp: () => setHelp(listShortcuts()),
      listShortcuts,
    };
  }, [areOn, layers]);
  useEffect(() => {
    let first = { key: '', until: 0 };
    const handleKey = (event: KeyboardEvent) => {
      if (event.altKey || event.defaultPrevented) return;
      if (document.querySelector('[aria-modal="true"]') !== null) return;
      const topFirst = [...layers].toReversed();
      const run = (keys: string): boolean => {
        const layer = topFirst.find(({ current }) => Object.hasOwn(current, keys));
        if (layer === undefined) return false;
        event.preventDefault();
        layer.current[keys]?.run();
        return true;
      };
      if (event.ctrlKey || event.metaKey) {
        // Combinations also work in fields, and are no single keys, which can be turned off.
        run(`Ctrl ${event.key.toUpperCase()}`);
        return;
      }
      if (!areOn) return;
      const target = event.target as HTMLElement;
      if (
        target.isContentEditable ||
        (target.matches('input, textarea, select') && !target.matches(NON_TEXT_INPUTS))
      )
        return;
      if (event.key === '?') {
        control.showHelp();
        event.preventDefault();
        return;
      }
      const pressed = event.timeStamp < first.until ? `${first.key} ${event.key}` : event.key;
      first = { key: '', until: 0 };
      if (
        !run(pressed) &&
        topFirst.some(({ current }) => Object.keys(current).some((key) => key.startsWith(`${pressed} `)))
      )
        first = { key: pressed, until: event.timeStamp + SEQUENCE_TIMEOUT };
    };
    document.addEventListener('keydown', handleKey);
    return () => document.removeEventListener('keydown', handleKey);
  }, [layers, areOn, control]);
  return (
    <LayersContext.Provider value={layers}>
      <ControlContext.Provider value={control}>{children}</ControlContext.Provider>
      <Suspense>
        {help !== undefined && <ShortcutsHelp shortcuts={help} onClose={() => setHelp(undefined)} />}
      </Suspense>
    </LayersContext.Provider>
  );
}
