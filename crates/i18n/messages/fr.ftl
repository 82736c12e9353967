# What the public pages, and the emails to guests, say.
#
# Texts in braces are filled in: keep their names. Every language has the same messages with the same names in braces; a
# test checks it. A host's or a guest's own words are never translated.

### Every page

skip = Aller au contenu
footer-booking = Réservation avec Kalends
footer-console = Agendas avec Kalends
footer-invitation = Invitation avec Kalends
language = Langue
optional = (facultatif)
error-title = Erreur : { $title }
place = Lieu
call = En ligne
place-label = Lieu :
call-label = En ligne :

### Times

# Stands between two times, or between a time and a date.
time-to = à
# A booking or an event within a day.
when-times = { $date }, de { $start } à { $end } ({ $zone })
# From a time on one day to a time on another.
when-days = du { $date }, { $start }, au { $last }, { $end } ({ $zone })
when-all-day = { $date }, toute la journée
when-all-days = du { $date } au { $last }, toute la journée
# From one date to another.
dates = du { $date } au { $last }
all-day = Toute la journée
minutes = { $count ->
    [one] { $count } minute
   *[other] { $count } minutes
}
hours = { $count ->
    [one] { $count } heure
   *[other] { $count } heures
}
hours-and-minutes = { $hours } { $minutes }

### The page of a host: days and times to choose from

book-a-time = Réserver un créneau
title-with-host = { $title } avec { $host }
online = En ligne. Vous recevez le lien après la réservation.
months = Mois
previous-month = Mois précédent
next-month = Mois suivant
# The next two are read out by screen readers.
step-to-month = { $step }, { $month }
heading-with-count = { $heading }, { $count }
today = { $day }, aujourd’hui
free-days = { $count ->
    [0] aucun jour libre
    [one] { $count } jour libre
   *[other] { $count } jours libres
}
free-times = { $count ->
    [0] aucun créneau libre
    [one] { $count } créneau libre
   *[other] { $count } créneaux libres
}
times-are-shown-in = Fuseau horaire
# The button next to a list of time zones. Its longer name for screen readers must contain the short one.
switch = Changer
switch-zone = Changer de fuseau horaire
hosts-time = Afficher l’heure de l’hôte, { $zone }
morning = Matin
afternoon = Après-midi
evening = Soir
nothing-free-in = Rien de libre : { $month }
first-free-day = Le premier jour libre est le { $day }.
nothing-free = Aucun créneau n’est libre pour le moment. Des créneaux se libèrent quand les plans changent : revenez voir un autre jour.
move-title = Déplacer votre réservation : { $title }
move-hint = Choisissez un autre créneau. Tant que vous ne l’avez pas confirmé, celui-ci reste réservé :
zones-here = Ici
zones-africa = Afrique
zones-america = Amérique
zones-asia = Asie
zones-pacific = Australie et Pacifique
zones-europe = Europe
zones-other = Autres

### The form of a booking

your-details = Vos coordonnées
details-title = Vos coordonnées : { $title }
choose-another = Choisir un autre créneau
nothing-booked = Rien n’est encore réservé.
please-correct = À corriger :
name = Votre nom
email = Votre adresse e-mail
email-hint = Pour la confirmation, avec les liens pour annuler ou déplacer la réservation.
notes = Remarques
your-answers = Vos réponses
choose-one = Choisissez
no-answer = Sans réponse
# Label of a field that only robots fill in.
leave-empty = Laisser ce champ vide
book-at = Réserver : { $day }, { $time }
problem-required = Ce champ est obligatoire.
problem-too-long = { $max ->
    [one] { $max } caractère au maximum.
   *[other] { $max } caractères au maximum.
}
problem-email = Saisissez une adresse e-mail complète, par exemple nom@example.com.
problem-phone = Saisissez un numéro de téléphone, par exemple +49 30 123456.
problem-choice = Choisissez l’une des options.
problem-tick = Cochez cette case pour continuer.
problem-other = Cette saisie n’est pas possible. Veuillez la modifier.
problem-answers = Les réponses sont trop longues au total. Veuillez les raccourcir.

### After a booking

you-are-booked = Votre réservation est faite
booked-title = Réservé : { $title }
moved-heading = Votre réservation a été déplacée
moved-title = Déplacé : { $title }
no-longer-at = L’ancien créneau est abandonné : { $date }, { $time }.
confirmation-sent = Une confirmation est en route vers { $address }.
add-to-calendar = Ajouter à votre agenda
calendar-file = Fichier d’agenda (.ics)
change-it = Modifier
move-it = Déplacer
cancel-it = Annuler

### The chosen time is gone

taken = Ce créneau vient d’être pris
taken-title = Ce créneau vient d’être pris : { $title }
taken-now = { $date }, { $time } n’est plus libre. Rien n’a été réservé pour vous.
taken-unmoved = { $date }, { $time } n’est plus libre. Votre réservation n’a pas été déplacée.
nearest-times = Les créneaux libres les plus proches
none-left = Aucun autre créneau n’est libre pour le moment.
book-instead = Réserver celui-ci
choose-this = Choisir
input-kept = Votre saisie est conservée.
times-are-in = Fuseau horaire : { $zone }.
see-all-times = Voir tous les créneaux libres

### Moving a booking

confirm-move-title = Confirmer le nouveau créneau : { $title }
confirm-move = Déplacer votre réservation vers ce créneau ?
currently-at = Créneau actuel : { $date }, { $time }. Il sera alors libre pour les autres.
move-button = Déplacer la réservation

### Cancelling a booking

cancel-question = Annuler cette réservation ?
booked-by = Réservé par { $name }. Si vous annulez, le créneau sera libre pour les autres.
cancelled-now = Votre réservation est annulée
cancelled-now-text = Le créneau est libre pour les autres. Vous n’avez rien d’autre à faire.
cancelled-before = Cette réservation était déjà annulée
cancelled-before-text = Le rendez-vous n’a pas lieu. Vous n’avez rien d’autre à faire.
past = Cette réservation ne peut plus être modifiée
past-text = Le rendez-vous a déjà commencé ou il est terminé. Si quelque chose a changé, écrivez à l’hôte.
cancel-button = Annuler la réservation
move-instead = La déplacer plutôt
keep-it = Pour la garder, fermez simplement cette page.
book-another = Réserver un autre créneau

### Whether a host gets emails about bookings

emails-title = E-mails sur les réservations : { $title }
emails-heading = E-mails sur les réservations
emails-asked = { $organization } souhaite vous envoyer un e-mail quand quelqu’un réserve, déplace ou annule un créneau sur la page « { $title } ».
emails-question = Voulez-vous recevoir ces e-mails à l’adresse { $address } ?
emails-sent = Vous recevez un e-mail à l’adresse { $address } quand quelqu’un réserve, déplace ou annule un créneau sur la page « { $title } ».
emails-stopped = Vous ne recevez pas d’e-mails à l’adresse { $address } sur les réservations de la page « { $title } ».
emails-send = Envoyer ces e-mails
emails-refuse = Ne pas les envoyer
emails-stop = Arrêter ces e-mails
emails-hint = Vous pouvez changer cela ici à tout moment.

### Where replies to emails go

replies-heading = Réponses aux e-mails
replies-question = { $organization } souhaite que les réponses à ses e-mails, par exemple aux invitations, soient envoyées à { $address }. Êtes-vous d’accord ?
replies-agreed = Les réponses aux e-mails de { $organization } sont envoyées à { $address }.
replies-stopped = Les réponses aux e-mails de { $organization } ne sont pas envoyées à { $address }.
replies-agree = Recevoir les réponses ici
replies-refuse = Ne pas les recevoir
replies-stop = Ne plus recevoir les réponses

### Invitations

invitation-title = Invitation : { $title }
invites-you = { $organizer } vous invite
you-accepted = Vous avez accepté.
you-replied-maybe = Vous avez répondu : peut-être.
you-declined = Vous avez décliné.
reply-recorded = Votre réponse est enregistrée. Vous pouvez la modifier ici jusqu’à la fin de l’événement.
reply-changeable = Vous pouvez modifier votre réponse ci-dessous.
event-cancelled = Cet événement est annulé.
event-cancelled-text = Vous n’avez rien à faire.
event-over = Cet événement est terminé.
event-over-text = Il n’accepte plus de réponses.
event-repeats = Cet événement se répète. Il commence à cette date, et votre réponse vaut pour toutes ses dates.
reply-not-recorded = Votre réponse n’est pas enregistrée.
choose-a-reply = Veuillez choisir l’une des trois réponses.
note-to-organizer = Message à l’organisateur
accept = Accepter
maybe = Peut-être
decline = Décliner
reply-as = Vous répondez en tant que { $email }. L’organisateur voit votre réponse et votre message ; les autres invités ne les voient pas.

### Instead of a page

no-page = Il n’y a pas de page de réservation ici
no-page-text = L’adresse est peut-être mal saisie ou tronquée, ou la page a été retirée.
no-page-advice = Demandez un nouveau lien à la personne qui vous l’a envoyé. Les réservations existantes ne sont pas touchées.
no-console-page = Il n’y a pas de page ici
no-console-page-text = L’adresse est peut-être mal saisie ou incomplète.
go-to-console = Aller à la console
not-accepted = L’action n’a pas pu être effectuée
not-accepted-text = Le formulaire est peut-être périmé ou vient d’une autre page. Revenez en arrière, rechargez la page et réessayez.
other-address = Cette page a été ouverte à une autre adresse
other-address-text = Ouvrez-la à l’adresse { $address } et réessayez.
closed = Les réservations sont fermées pour l’instant
closed-text = Aucune autre réservation n’est possible pour le moment. Les réservations existantes ne sont pas touchées.
closed-advice = Réessayez un autre jour, ou écrivez à la personne que vous voulez rencontrer.
no-booking = Ce lien ne mène à aucune réservation
no-booking-text = Le lien est peut-être tronqué, ou la réservation a été supprimée. Utilisez le lien complet de votre confirmation.
not-moved = Cette réservation ne peut pas être déplacée
not-moved-text = La page sur laquelle vous avez réservé n’accepte plus de réservations ou est désactivée. Votre réservation n’est pas touchée. Vous pouvez l’annuler avec le lien de votre confirmation.
no-invitation = Ce lien ne mène à aucune invitation
no-invitation-text = Le lien est peut-être tronqué, l’événement a pu être supprimé, ou vous ne figurez plus parmi les invités.
no-invitation-advice = Utilisez le lien complet du dernier e-mail sur cet événement.
no-reply-link = Ce lien ne fonctionne plus
no-reply-link-text = Il est peut-être tronqué, remplacé par un e-mail plus récent, ou il a expiré. Rien n’a changé.
no-reply = Votre réponse n’a pas été enregistrée
no-reply-text = Ouvrez de nouveau le lien de l’e-mail et choisissez l’une des réponses.
too-many = Un instant, s’il vous plaît
too-many-text = De nombreuses requêtes sont venues de votre réseau en peu de temps.
too-many-seconds = { $count ->
    [one] Attendez une seconde, puis réessayez. Rien n’a changé.
   *[other] Attendez { $count } secondes, puis réessayez. Rien n’a changé.
}
too-many-minutes = { $count ->
    [one] Attendez une minute, puis réessayez. Rien n’a changé.
   *[other] Attendez { $count } minutes, puis réessayez. Rien n’a changé.
}
not-offered = Ce créneau ne peut pas être réservé
not-offered-text = Le lien indique un créneau que cette page ne propose pas. Choisissez l’un des créneaux libres.
failed = Une erreur s’est produite de notre côté
failed-text = Votre demande n’a pas pu aboutir. Réessayez dans une minute.
failed-number = Si cela se reproduit, donnez ce numéro à l’hôte : { $number }
see-free-times = Voir les créneaux libres

### Emails to guests. Each begins with the greeting, and ends with the signature.

mail-greeting = Bonjour,
mail-signature = Kalends, le service d’agendas pour les agents IA. Kalends ne lit pas les réponses.
mail-booking = Votre réservation « { $title } »
mail-booking-with = Votre réservation « { $title } » avec { $host }
mail-booked-subject = Votre réservation est confirmée
# { $booking } is mail-booking or mail-booking-with, at the beginning of the sentence after the greeting.
mail-booked = { $booking } est confirmée : { $when }.
mail-moved-subject = Votre réservation a été déplacée
mail-moved = { $booking } a été déplacée. Nouvelle date : { $when }.
mail-reminder-subject = Rappel : { $title }
mail-reminder = { $booking } approche : { $when }.
mail-cancelled-subject = Votre réservation est annulée
mail-cancelled = { $booking } est annulée : { $when }. Vous n’avez rien à faire.
mail-called-off-subject = Votre réservation a été annulée
mail-called-off = { $booking } a été annulée par l’hôte : { $when }.
mail-host-writes = L’hôte écrit :
mail-book-another = Pour réserver un autre créneau :
mail-move = Pour choisir un autre créneau :
mail-cancel = Pour annuler :
mail-links-are-secret = Toute personne qui a ces liens peut le faire : ne transférez pas ce message. Si vous n’avez rien réservé, quelqu’un a saisi votre adresse par erreur ; annulez la réservation ou ignorez ce message.
mail-place = Lieu : { $place }
mail-call = En ligne :
# In the guest's calendar, before the link that moves the booking.
calendar-move = Pour choisir un autre créneau :
