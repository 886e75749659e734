import { createTheme, defaultVariantColorsResolver, type MantineColorsTuple } from '@mantine/core';

/** The accent colour of the account pages. */
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

/** Greys of the dark scheme; Mantine's are warmer and look brown next to them. */
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

/** The content security policy forbids style elements made by scripts, which `lockScroll` needs. */
const NO_STYLE_ELEMENT = { lockScroll: false } as const;

/** Names the close button, and removes the header's banner role. */
const DIALOG_PROPS = {
  ...NO_STYLE_ELEMENT,
  closeButtonProps: { 'aria-label': 'Close' },
  attributes: { header: { role: 'presentation' } },
} as const;

/** Colours, sizes and defaults of all components. */
export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: { light: 8, dark: 4 },
  autoContrast: true,
  // light-dark() follows the colour scheme; a colour computed here would not.
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
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
    // An accessible name requires a role.
    Loader: { defaultProps: { role: 'status', 'aria-label': 'Loading' } },
    Button: { defaultProps: { size: 'sm' } },
    Switch: { defaultProps: { withThumbIndicator: false } },
    SegmentedControl: { defaultProps: { transitionDuration: 0 } },
    Tooltip: { defaultProps: { openDelay: 400, withArrow: true } },
    Menu: { defaultProps: { shadow: 'md', transitionProps: { duration: 80 } } },
    Popover: { defaultProps: { shadow: 'md', transitionProps: { duration: 80 } } },
  },
});
