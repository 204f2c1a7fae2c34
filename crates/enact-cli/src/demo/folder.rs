//! The files of the demonstration.

use std::io;
use std::path::Path;

const FILES: &[(&str, &str)] = &[
    (
        "notes.txt",
        "Four customers were billed in May: Acme, Globex, Initech and Umbrella.\n\
         One file each, in the folder `invoices`.\n",
    ),
    (
        "invoices/acme.txt",
        "customer: Acme\nitem: anvils, 3 pieces\namount: 1240.50\nstatus: paid\n",
    ),
    (
        "invoices/globex.txt",
        "customer: Globex\nitem: weather report\namount: 310.25\nstatus: open\n",
    ),
    (
        "invoices/initech.txt",
        "customer: Initech\nitem: stapler, red\namount: 89.00\nstatus: open\n",
    ),
];

/// Fills a directory with a few small invoices.
pub(super) fn fill(folder: &Path) -> io::Result<()> {
    std::fs::create_dir(folder.join("invoices"))?;
    for (path, content) in FILES {
        std::fs::write(folder.join(path), content)?;
    }
    Ok(())
}
