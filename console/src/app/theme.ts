import { createTheme, defaultVariantColorsResolver, type MantineColorsTuple } from '@mantine/core';

/** @returns the design tokens of these names as a colour of Mantine, from light to dark */
const shades = (...names: string[]) => names.map((name) => `var(--${name})`) as unknown as MantineColorsTuple;

// Both schemes have the same tokens, whose values follow the scheme.
const accent = shades(...Array.from({ length: 10 }, () => 'accent'));
/** The shades that Mantine's styles use in the light scheme. */
const gray = shades('hover', 'hover', 'line', 'line', 'line-2', 'control', 'ink-3', 'ink-2', 'ink-2', 'ink');
/** The shades that Mantine's styles use in the dark scheme. */
const dark = shades(
  'ink',
  'ink-2',
  'ink-3',
  'ink-3',
  'line-2',
  'hover',
  'raised',
  'surface',
  'canvas',
  'canvas',
);

/** The content security policy forbids style elements made by scripts, which `lockScroll` needs. */
const NO_STYLE_ELEMENT = { lockScroll: false } as const;

/** Names the close button, and removes the header's banner role. */
const DIALOG_PROPS = {
  ...NO_STYLE_ELEMENT,
  closeButtonProps: { 'aria-label': 'Close' },
  attributes: { header: { role: 'presentation' } },
} as const;

/** Sizes of text of 12, 13, 14, 15 and 17 px. */
const fontSizes = { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '0.9375rem', xl: '1.0625rem' };
const lineHeights = { xs: '1rem', sm: '1.125rem', md: '1.25rem', lg: '1.5rem', xl: '1.5rem' };

/** Colours, sizes and defaults of all components, from the design tokens (assets/tokens.css). */
export const theme = createTheme({
  primaryColor: 'accent',
  // light-dark() follows the colour scheme; a colour computed here would not.
  variantColorResolver: (input) => ({
    ...defaultVariantColorsResolver(input),
    ...(input.variant === 'filled'
      ? { color: input.color === 'red' ? 'var(--on-danger)' : 'var(--on-accent)' }
      : {}),
  }),
  colors: { accent, gray, dark },
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes,
  lineHeights,
  headings: {
    fontFamily: 'var(--font)',
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.25rem', lineHeight: '1.75rem' },
      h2: { fontSize: '1.0625rem', lineHeight: '1.5rem' },
      h3: { fontSize: '0.9375rem', lineHeight: '1.5rem' },
      h4: { fontSize: '0.875rem', lineHeight: '1.25rem' },
      h5: { fontSize: '0.875rem', lineHeight: '1.25rem' },
      h6: { fontSize: '0.8125rem', lineHeight: '1.125rem' },
    },
  },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  radius: { xs: '4px', sm: '6px', md: '6px', lg: '10px', xl: '10px' },
  shadows: {
    xs: 'var(--shadow-1)',
    sm: 'var(--shadow-1)',
    md: 'var(--shadow-2)',
    lg: 'var(--shadow-2)',
    xl: 'var(--shadow-2)',
  },
  defaultRadius: 'md',
  cursorType: 'pointer',
  components: {
    Modal: { defaultProps: { ...DIALOG_PROPS, centered: true, transitionProps: { duration: 100 } } },
    Drawer: { defaultProps: { ...DIALOG_PROPS, transitionProps: { duration: 100 } } },
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
    // The accent is light in the dark scheme.
    Checkbox: { defaultProps: { iconColor: 'var(--on-accent)' } },
    Radio: { defaultProps: { iconColor: 'var(--on-accent)' } },
    // An accessible name requires a role.
    Loader: { defaultProps: { role: 'status', 'aria-label': 'Loading' } },
    // 28 pixels small, 32 by default.
    Button: {
      defaultProps: { size: 'sm' },
      vars: (_theme: unknown, { size }: { size?: unknown }) => ({
        root:
          size === 'xs'
            ? { '--button-height': '28px', '--button-padding-x': '10px', '--button-fz': '0.8125rem' }
            : size === 'sm'
              ? { '--button-height': '32px', '--button-padding-x': '12px' }
              : {},
      }),
    },
    Switch: { defaultProps: { withThumbIndicator: false } },
    SegmentedControl: { defaultProps: { transitionDuration: 0 } },
    Tooltip: { defaultProps: { openDelay: 400, withArrow: true } },
    Menu: {
      // The placeholder is a focusable element without a role, which menus may not contain.
      defaultProps: { shadow: 'md', transitionProps: { duration: 80 }, withInitialFocusPlaceholder: false },
    },
    Popover: { defaultProps: { shadow: 'md', transitionProps: { duration: 80 } } },
  },
});
