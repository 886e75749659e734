import { MantineThemeProvider, Modal, type ModalProps } from '@mantine/core';
import { useLayoutEffect } from 'react';
import { submitOnCtrlEnter } from './submit-on-ctrl-enter.ts';

/** Opens dropdowns upwards, so that they do not cover the buttons below, and only on input. */
const DIALOG_THEME = {
  components: {
    Combobox: { defaultProps: { position: 'top' } },
    ...Object.fromEntries(
      ['Select', 'MultiSelect', 'TagsInput'].map((name) => [name, { defaultProps: { openOnFocus: false } }]),
    ),
  },
};

/** A dialog, mounted while it is open. Ctrl or Cmd with Enter submits it; closing returns the focus to its opener. */
export function Dialog({ children, ...modalProps }: Omit<ModalProps, 'opened'>) {
  useLayoutEffect(() => {
    const opener = findOpener(document.activeElement);
    return () => {
      const focused = document.activeElement;
      const isFocusFree = focused === document.body || focused?.closest('[role="dialog"]') != null;
      // A dialog opened by a shortcut, without a focused element, focuses the table.
      const focusTarget =
        opener === document.body ? document.querySelector('#content [role="grid"]') : opener;
      if (isFocusFree && focusTarget instanceof HTMLElement) focusTarget.focus({ preventScroll: true });
    };
  }, []);
  return (
    <Modal opened onKeyDown={submitOnCtrlEnter} {...modalProps}>
      <MantineThemeProvider theme={DIALOG_THEME}>{children}</MantineThemeProvider>
    </Modal>
  );
}

/** @returns the element, or the button of its menu, because the menu closes */
function findOpener(element: Element | null): Element | null {
  const name = element?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  return document.getElementById(name ?? '') ?? element;
}
