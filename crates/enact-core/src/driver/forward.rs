//! Forwarding for wrappers of effects.

/// Forwards these methods of [`Effects`](crate::driver::Effects) to other effects: `self => (self.inner):
/// now, ask, …`. The wrapper implements the rest.
#[macro_export]
macro_rules! forward_effects {
    ($this:ident => $inner:tt: $($effect:ident),* $(,)?) => {
        $($crate::forward_effects!(@ $effect $this $inner);)*
    };
    (@ now $this:ident $inner:tt) => {
        fn now(&$this) -> $crate::Timestamp {
            $inner.now()
        }
    };
    (@ proceed $this:ident $inner:tt) => {
        fn proceed(&$this) -> Result<(), $crate::driver::Stopped> {
            $inner.proceed()
        }
    };
    (@ append $this:ident $inner:tt) => {
        fn append<'a>(
            &'a $this,
            records: Vec<$crate::run::Record>,
            durability: $crate::driver::Durability,
        ) -> $crate::driver::Effect<'a, Vec<$crate::run::Record>> {
            $inner.append(records, durability)
        }
    };
    (@ ask $this:ident $inner:tt) => {
        fn ask<'a>(
            &'a $this,
            asking: $crate::driver::Asking<'a>,
        ) -> $crate::driver::Effect<'a, $crate::driver::Answered> {
            $inner.ask(asking)
        }
    };
    (@ act $this:ident $inner:tt) => {
        fn act<'a>(
            &'a $this,
            run: &$crate::run::Run,
            calls: Vec<$crate::react::ToolCall>,
        ) -> $crate::driver::Doing<'a> {
            $inner.act(run, calls)
        }
    };
    (@ abandon $this:ident $inner:tt) => {
        fn abandon<'a>(
            &'a $this,
            run: &'a $crate::run::Run,
            calls: Vec<$crate::react::ToolCall>,
        ) -> $crate::driver::Effect<'a, ()> {
            $inner.abandon(run, calls)
        }
    };
    (@ check $this:ident $inner:tt) => {
        fn check<'a>(
            &'a $this,
            run: &'a $crate::run::Run,
            calls: Vec<&'a $crate::run::Call>,
        ) -> $crate::driver::Effect<'a, Vec<$crate::react::CallCheck>> {
            $inner.check(run, calls)
        }
    };
    (@ ends $this:ident $inner:tt) => {
        fn ends<'a>(
            &'a $this,
            run: &'a $crate::run::Run,
            step: &'a $crate::run::TraceStep,
        ) -> $crate::driver::Effect<'a, bool> {
            $inner.ends(run, step)
        }
    };
    (@ tools $this:ident $inner:tt) => {
        fn tools<'a>(
            &'a $this,
            run: &'a $crate::run::Run,
            time: Option<::std::time::Duration>,
        ) -> $crate::driver::Effect<'a, Option<Vec<$crate::tool::ToolSpec>>> {
            $inner.tools(run, time)
        }
    };
    (@ wait $this:ident $inner:tt) => {
        fn wait<'a>(
            &'a $this,
            run: &'a $crate::run::Run,
            questions: &'a [$crate::run::Question],
        ) -> $crate::driver::Effect<'a, Option<$crate::driver::Answer>> {
            $inner.wait(run, questions)
        }
    };
    (@ stepped $this:ident $inner:tt) => {
        fn stepped(&$this, run: &$crate::run::Run) {
            $inner.stepped(run);
        }
    };
}
