import { MantineThemeProvider, Modal, type ModalProps } from '@mantine/core';
import { useLayoutEffect } from 'react';
import { submitOnCtrlEnter } from './submit-on-ctrl-enter.ts';

/** Choices lie on what is behind them: on none of the buttons below, and on the words above once one types or asks. */
const DIALOG_THEME = {
  components: {
    Combobox: { defaultProps: { position: 'top' } },
    ...Object.fromEntries(
      ['Select', 'MultiSelect', 'TagsInput'].map((name) => [name, { defaultProps: { openOnFocus: false } }]),
    ),
  },
};

/**
 * A dialog, which is there while it is open. Ctrl or Cmd with Enter in a field sends it, and its end gives the focus
 * back to what it was opened with.
 */
export function Dialog({ children, ...others }: Omit<ModalProps, 'opened'>) {
  useLayoutEffect(() => {
    const opener = findOpener(document.activeElement);
    return () => {
      const focused = document.activeElement;
      const isLeft = focused === document.body || focused?.closest('[role="dialog"]') != null;
      // What a key opened where nothing had the focus gives it to what the key was about.
      const back = opener === document.body ? document.querySelector('#content [role="grid"]') : opener;
      if (isLeft && back instanceof HTMLElement) back.focus({ preventScroll: true });
    };
  }, []);
  return (
    <Modal opened onKeyDown={submitOnCtrlEnter} {...others}>
      <MantineThemeProvider theme={DIALOG_THEME}>{children}</MantineThemeProvider>
    </Modal>
  );
}

/** @returns the element, or the button that names the menu which it is in, as that closes */
function findOpener(element: Element | null): Element | null {
  const name = element?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  return document.getElementById(name ?? '') ?? element;
}
