import { MantineThemeProvider, Modal, type ModalProps } from '@mantine/core';

/** Choices lie on what is behind them: on none of the buttons below, and on the words above once one types or asks. */
const UNCOVERED = {
  components: {
    Combobox: { defaultProps: { position: 'top' } },
    ...Object.fromEntries(
      ['Select', 'MultiSelect', 'TagsInput'].map((name) => [name, { defaultProps: { openOnFocus: false } }]),
    ),
  },
};

/** A dialog with fields. */
export function Dialog({ children, ...others }: Omit<ModalProps, 'opened'>) {
  return (
    <Modal opened {...others}>
      <MantineThemeProvider theme={UNCOVERED}>{children}</MantineThemeProvider>
    </Modal>
  );
}
