import { createTheme, defaultVariantColorsResolver, type MantineColorsTuple } from '@mantine/core';

/** The one accent: that of the account pages. */
const accent: MantineColorsTuple = [
  '#eef4fb',
  '#dce8f5',
  '#b6cfea',
  '#8cb4e0',
  '#7fb3ee',
  '#4d8ad2',
  '#3c7cc6',
  '#2c6cb5',
  '#1f5fa8',
  '#174a85',
];

/** Greys of the dark scheme, of the hue of its paper: those of Mantine are warmer and stand out as brown. */
const dark: MantineColorsTuple = [
  '#dfe5ec',
  '#c0cad6',
  '#a3b0bf',
  '#8997a7',
  '#3a4755',
  '#2b3642',
  '#202a35',
  '#181f28',
  '#11171e',
  '#0b0f14',
];

/** A style element of a script is against the policy of the page: what would make one is off, here and for all. */
const NO_STYLE_ELEMENT = { lockScroll: false } as const;

/** What every dialog has: a name for the button that closes it, and a head that is not taken for that of the page. */
const DIALOG_PROPS = {
  ...NO_STYLE_ELEMENT,
  closeButtonProps: { 'aria-label': 'Close' },
  attributes: { header: { role: 'presentation' } },
} as const;

/** Colours, sizes and defaults of every part. */
export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: { light: 8, dark: 4 },
  autoContrast: true,
  // By the scheme as it is: a colour that a script chose would stay when the scheme changes.
  variantColorResolver: (input) => ({
    ...defaultVariantColorsResolver(input),
    ...(input.variant === 'filled' ? { color: 'light-dark(#ffffff, #0d1620)' } : {}),
  }),
  colors: { accent, dark },
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', Consolas, monospace",
  defaultRadius: 'md',
  cursorType: 'pointer',
  components: {
    Modal: { defaultProps: { ...DIALOG_PROPS, centered: true, transitionProps: { duration: 100 } } },
    Drawer: { defaultProps: { ...DIALOG_PROPS, transitionProps: { duration: 100 } } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    // A header of a dialog is none of the page; and what has no words says what it does.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
    // Without a role, an element may have no name; and a part that turns says that one waits.
    Loader: { defaultProps: { role: 'status', 'aria-label': 'Reading' } },
    Button: { defaultProps: { size: 'sm' } },
    Switch: { defaultProps: { withThumbIndicator: false } },
    SegmentedControl: { defaultProps: { transitionDuration: 0 } },
    Tooltip: { defaultProps: { openDelay: 400, withArrow: true } },
    Menu: { defaultProps: { shadow: 'md', transitionProps: { duration: 80 } } },
    Popover: { defaultProps: { shadow: 'md', transitionProps: { duration: 80 } } },
  },
});
